#ifndef PLAIT_FEATURES_H
#define PLAIT_FEATURES_H

#define _FEATURES_H 1
#define __GLIBC__ 2
#define __GLIBC_MINOR__ 36
#define __GLIBC_PREREQ(major, minor) ((2 << 16) + 36 >= ((major) << 16) + (minor))
#ifdef __cplusplus
#define __BEGIN_DECLS extern "C" {
#define __END_DECLS }
#else
#define __BEGIN_DECLS
#define __END_DECLS
#endif
#define __THROW
#define __nonnull(parameters)

#endif
