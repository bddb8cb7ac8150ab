/* Translated messages: in an environment that is empty, and in one that names no language, they are
   what they were. */
#include "plait.h"

char *gettext(const char *text) { return (char *)text; }
char *dgettext(const char *domain, const char *text) { return (char *)text; }
char *dcgettext(const char *domain, const char *text, int category) { return (char *)text; }
char *ngettext(const char *one, const char *many, unsigned long count) {
  return (char *)(count == 1 ? one : many);
}
char *dngettext(const char *domain, const char *one, const char *many, unsigned long count) {
  return ngettext(one, many, count);
}
char *dcngettext(const char *domain, const char *one, const char *many, unsigned long count,
                 int category) {
  return ngettext(one, many, count);
}
