/* getopt and getopt_long as glibc has them: arguments that are no options move behind the options.
   Not thread-safe: all that is kept between calls are ordinary variables. */
#include "plait.h"

char *optarg = NULL;
int optind = 1;
int opterr = 1;
int optopt = '?';

static char *__plait_letters = NULL; /* what is left of a group of options, as in -ab */
static int __plait_passed = 0;       /* how many others stand directly before the options in work */
static int __plait_begin = 1;        /* where the option in work begins */

struct __plait_option {
  const char *name;
  int has_arg;
  int *flag;
  int val;
};

int strncmp(const char *, const char *, size_t);

static int __plait_is_option(const char *text) { return text[0] == '-' && text[1] != 0; }

/* The options from __plait_begin to optind move before what was passed. */
static void __plait_move_options(char **arguments) {
  int from;
  int at;
  for (from = __plait_begin; from < optind; from = from + 1) {
    char *moved = arguments[from];
    for (at = from; at > from - __plait_passed; at = at - 1) arguments[at] = arguments[at - 1];
    arguments[at] = moved;
  }
  __plait_begin = optind;
}

/* Whether there is another option; optind is then its place. */
static int __plait_find_option(int count, char **arguments, int stops) {
  if (optind == 0) {
    optind = 1;
    __plait_passed = 0;
    __plait_begin = 1;
  }
  if (optind < __plait_begin) { /* the program has set it back */
    __plait_passed = 0;
    __plait_begin = optind;
  }
  __plait_move_options(arguments);
  while (!stops && optind < count && !__plait_is_option(arguments[optind])) {
    optind = optind + 1;
    __plait_passed = __plait_passed + 1;
  }
  __plait_begin = optind;
  if (optind < count && arguments[optind][0] == '-' && arguments[optind][1] == '-' &&
      arguments[optind][2] == 0) {
    optind = optind + 1;
    __plait_move_options(arguments);
    optind = optind - __plait_passed;
    __plait_passed = 0;
    __plait_begin = optind;
    return 0;
  }
  if (optind >= count || !__plait_is_option(arguments[optind])) {
    optind = optind - __plait_passed;
    __plait_passed = 0;
    __plait_begin = optind;
    return 0;
  }
  return 1;
}

static int __plait_short_option(int count, char **arguments, const char *letters, int missing) {
  int letter = *__plait_letters;
  const char *found = letters;
  __plait_letters = __plait_letters + 1;
  while (*found != 0 && *found != letter) found = found + 1;
  if (*__plait_letters == 0) optind = optind + 1;
  if (*found == 0 || letter == ':' || letter == ';') {
    optopt = letter;
    return '?';
  }
  if (found[1] != ':') return letter;
  if (*__plait_letters != 0) {
    optarg = __plait_letters;
    optind = optind + 1;
  } else if (found[2] == ':') {
    optarg = NULL;
  } else if (optind < count) {
    optarg = arguments[optind];
    optind = optind + 1;
  } else {
    optopt = letter;
    letter = missing;
  }
  __plait_letters = NULL;
  return letter;
}

static int __plait_long_option(int count, char **arguments, const struct __plait_option *options,
                               int *index, int missing) {
  const char *name = arguments[optind] + 2;
  size_t length = 0;
  int chosen = -1;
  int several = 0;
  int at;
  while (name[length] != 0 && name[length] != '=') length = length + 1;
  optind = optind + 1;
  for (at = 0; options[at].name != NULL; at = at + 1) {
    if (strncmp(options[at].name, name, length) == 0) {
      if (options[at].name[length] == 0) {
        chosen = at;
        several = 0;
        break;
      }
      if (chosen < 0)
        chosen = at;
      else if (options[chosen].has_arg != options[at].has_arg ||
               options[chosen].flag != options[at].flag || options[chosen].val != options[at].val)
        several = 1;
    }
  }
  if (chosen < 0 || several) {
    optopt = 0;
    return '?';
  }
  optarg = NULL;
  if (name[length] == '=') {
    if (options[chosen].has_arg == 0) {
      optopt = options[chosen].val;
      return '?';
    }
    optarg = (char *)name + length + 1;
  } else if (options[chosen].has_arg == 1) {
    if (optind >= count) {
      optopt = options[chosen].val;
      return missing;
    }
    optarg = arguments[optind];
    optind = optind + 1;
  }
  if (index != NULL) *index = chosen;
  if (options[chosen].flag == NULL) return options[chosen].val;
  *options[chosen].flag = options[chosen].val;
  return 0;
}

static int __plait_getopt(int count, char **arguments, const char *letters,
                          const struct __plait_option *options, int *index) {
  int stops = *letters == '+';
  int missing;
  if (*letters == '-') __plait_unsupported("getopt with options that begin with '-'");
  if (stops) letters = letters + 1;
  missing = *letters == ':' ? ':' : '?';
  optarg = NULL;
  if (__plait_letters != NULL && *__plait_letters == 0) __plait_letters = NULL;
  if (optind == 0) __plait_letters = NULL;
  if (__plait_letters == NULL) {
    if (!__plait_find_option(count, arguments, stops)) return -1;
    if (options != NULL && arguments[optind][1] == '-')
      return __plait_long_option(count, arguments, options, index, missing);
    __plait_letters = arguments[optind] + 1;
  }
  return __plait_short_option(count, arguments, letters, missing);
}

int getopt(int count, char *const *arguments, const char *letters) {
  return __plait_getopt(count, (char **)arguments, letters, NULL, NULL);
}
int getopt_long(int count, char *const *arguments, const char *letters,
                const struct __plait_option *options, int *index) {
  return __plait_getopt(count, (char **)arguments, letters, options, index);
}
