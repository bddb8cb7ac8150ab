#ifndef PLAIT_WCHAR_H
#define PLAIT_WCHAR_H

#include <stddef.h>

typedef unsigned int wint_t;
#define WEOF 0xffffffffu
extern size_t wcslen(const wchar_t *);
extern int wprintf(const wchar_t *, ...);

#endif
