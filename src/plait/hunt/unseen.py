"""Functions of libraries that a program calls, and that may tell a thread what others have done."""

from __future__ import annotations

from collections.abc import Iterable

# These depend on their arguments and on what these point to, or only say something to people.
_HARMLESS = frozenset(
    """
    abs labs llabs div ldiv atoi atol atoll atof strtol strtoll strtoul strtoull strtod strtof
    strtold isalpha isdigit isalnum isspace isupper islower isxdigit ispunct isprint iscntrl isgraph
    toupper tolower __ctype_b_loc __ctype_toupper_loc __ctype_tolower_loc
    strerror strerror_r
    strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr strrchr strstr strcasestr strpbrk
    strspn strcspn strcpy strncpy strcat strncat stpcpy stpncpy strtok_r memcmp memchr memrchr
    mempcpy bcmp bzero bcopy qsort bsearch swab ffs
    printf fprintf vprintf vfprintf dprintf puts fputs putchar putc fputc fwrite fflush perror
    sprintf snprintf vsprintf vsnprintf sscanf vsscanf setbuf setvbuf
    __printf_chk __fprintf_chk __sprintf_chk __snprintf_chk __vsnprintf_chk __vfprintf_chk
    __isoc99_sscanf __isoc23_sscanf __isoc23_strtol __isoc23_strtoul __isoc23_strtoll
    stdout stderr stdin atexit getpid getppid getpagesize sysconf pthread_self thrd_current
    pthread_equal thrd_equal pthread_sigmask pthread_setcancelstate pthread_setcanceltype
    pthread_condattr_init pthread_condattr_destroy pthread_condattr_setclock
    pthread_rwlockattr_init pthread_rwlockattr_destroy pthread_barrierattr_init
    pthread_barrierattr_destroy pthread_attr_setstacksize pthread_attr_getstacksize
    pthread_attr_setscope pthread_attr_getdetachstate pthread_attr_setguardsize
    __errno_location __stack_chk_fail _GLOBAL_OFFSET_TABLE_ __libc_start_main setjmp longjmp _setjmp
    __sigsetjmp getopt getopt_long optarg optind opterr optopt getenv isatty signal sigaction
    sigemptyset sigfillset sigaddset sigdelset sigismember raise
    """.split()
)
_HOOKS = ("__tsan_", "__ubsan_", "__cyg_", "stand_in_", "outside_", "__VERIFIER_", "_ITM_")
_MATHS = frozenset(
    f"{name}{suffix}"
    for name in "sin cos tan asin acos atan atan2 exp exp2 log log2 log10 pow sqrt cbrt fabs floor"
    " ceil round trunc fmod hypot ldexp frexp modf fmin fmax lround llround rint nearbyint".split()
    for suffix in ("", "f", "l")
)


def unseen(undefined: Iterable[str]) -> list[str]:
    """Those that are not known to be harmless."""
    known = _HARMLESS | _MATHS
    names = {name.partition("@")[0] for name in undefined}
    return sorted(
        name
        for name in names
        if name not in known and not name.startswith(_HOOKS) and name not in ("reach_error",)
    )
