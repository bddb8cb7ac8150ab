#ifndef PLAIT_GETOPT_H
#define PLAIT_GETOPT_H

struct option {
  const char *name;
  int has_arg;
  int *flag;
  int val;
};
#define no_argument 0
#define required_argument 1
#define optional_argument 2
extern char *optarg;
extern int optind, opterr, optopt;
extern int getopt(int, char *const *, const char *);
extern int getopt_long(int, char *const *, const char *, const struct option *, int *);

#endif
