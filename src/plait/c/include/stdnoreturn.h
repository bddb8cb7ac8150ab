#ifndef PLAIT_STDNORETURN_H
#define PLAIT_STDNORETURN_H

#define noreturn _Noreturn

#endif
