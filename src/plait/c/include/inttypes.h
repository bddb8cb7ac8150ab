#ifndef PLAIT_INTTYPES_H
#define PLAIT_INTTYPES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  intmax_t quot;
  intmax_t rem;
} imaxdiv_t;

extern intmax_t imaxabs(intmax_t);
extern imaxdiv_t imaxdiv(intmax_t, intmax_t);
extern intmax_t strtoimax(const char *, char **, int);
extern uintmax_t strtoumax(const char *, char **, int);

#ifdef __LP64__
#define __PLAIT_PRI64 "l"
#define __PLAIT_PRIPTR "l"
#else
#define __PLAIT_PRI64 "ll"
#define __PLAIT_PRIPTR ""
#endif
#define PRId8 "hhd"
#define PRId16 "hd"
#define PRId32 "d"
#define PRIdLEAST8 PRId8
#define PRIdLEAST16 PRId16
#define PRIdLEAST32 PRId32
#define PRId64 __PLAIT_PRI64 "d"
#define PRIdMAX __PLAIT_PRI64 "d"
#define PRIdLEAST64 PRId64
#define PRIdPTR __PLAIT_PRIPTR "d"
#define PRIi8 "hhi"
#define PRIi16 "hi"
#define PRIi32 "i"
#define PRIiLEAST8 PRIi8
#define PRIiLEAST16 PRIi16
#define PRIiLEAST32 PRIi32
#define PRIi64 __PLAIT_PRI64 "i"
#define PRIiMAX __PLAIT_PRI64 "i"
#define PRIiLEAST64 PRIi64
#define PRIiPTR __PLAIT_PRIPTR "i"
#define PRIo8 "hho"
#define PRIo16 "ho"
#define PRIo32 "o"
#define PRIoLEAST8 PRIo8
#define PRIoLEAST16 PRIo16
#define PRIoLEAST32 PRIo32
#define PRIo64 __PLAIT_PRI64 "o"
#define PRIoMAX __PLAIT_PRI64 "o"
#define PRIoLEAST64 PRIo64
#define PRIoPTR __PLAIT_PRIPTR "o"
#define PRIu8 "hhu"
#define PRIu16 "hu"
#define PRIu32 "u"
#define PRIuLEAST8 PRIu8
#define PRIuLEAST16 PRIu16
#define PRIuLEAST32 PRIu32
#define PRIu64 __PLAIT_PRI64 "u"
#define PRIuMAX __PLAIT_PRI64 "u"
#define PRIuLEAST64 PRIu64
#define PRIuPTR __PLAIT_PRIPTR "u"
#define PRIx8 "hhx"
#define PRIx16 "hx"
#define PRIx32 "x"
#define PRIxLEAST8 PRIx8
#define PRIxLEAST16 PRIx16
#define PRIxLEAST32 PRIx32
#define PRIx64 __PLAIT_PRI64 "x"
#define PRIxMAX __PLAIT_PRI64 "x"
#define PRIxLEAST64 PRIx64
#define PRIxPTR __PLAIT_PRIPTR "x"
#define PRIX8 "hhX"
#define PRIX16 "hX"
#define PRIX32 "X"
#define PRIXLEAST8 PRIX8
#define PRIXLEAST16 PRIX16
#define PRIXLEAST32 PRIX32
#define PRIX64 __PLAIT_PRI64 "X"
#define PRIXMAX __PLAIT_PRI64 "X"
#define PRIXLEAST64 PRIX64
#define PRIXPTR __PLAIT_PRIPTR "X"
#define SCNd8 "hhd"
#define SCNd16 "hd"
#define SCNd32 "d"
#define SCNd64 __PLAIT_PRI64 "d"
#define SCNdMAX __PLAIT_PRI64 "d"
#define SCNdPTR __PLAIT_PRIPTR "d"
#define SCNi8 "hhi"
#define SCNi16 "hi"
#define SCNi32 "i"
#define SCNi64 __PLAIT_PRI64 "i"
#define SCNiMAX __PLAIT_PRI64 "i"
#define SCNiPTR __PLAIT_PRIPTR "i"
#define SCNo8 "hho"
#define SCNo16 "ho"
#define SCNo32 "o"
#define SCNo64 __PLAIT_PRI64 "o"
#define SCNoMAX __PLAIT_PRI64 "o"
#define SCNoPTR __PLAIT_PRIPTR "o"
#define SCNu8 "hhu"
#define SCNu16 "hu"
#define SCNu32 "u"
#define SCNu64 __PLAIT_PRI64 "u"
#define SCNuMAX __PLAIT_PRI64 "u"
#define SCNuPTR __PLAIT_PRIPTR "u"
#define SCNx8 "hhx"
#define SCNx16 "hx"
#define SCNx32 "x"
#define SCNx64 __PLAIT_PRI64 "x"
#define SCNxMAX __PLAIT_PRI64 "x"
#define SCNxPTR __PLAIT_PRIPTR "x"

#endif
