"""Functions of the system without a model: what they return and write are inputs, what they access
counts for races, and what cannot be bounded is refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.c.effects import read_effects
from plait.c.linker import index_library, read_list
from plait.engines.interface import Answer
from plait.engines.orders.engine import check
from plait.model.properties import from_names
from plait.semantics.explore import Exploration, ExploreOptions, explore
from tests.c.support import program
from tests.engines.asking import outcome_of

HEADERS = """#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
"""


def explored(
    folder: Path, text: str, *properties: str, inputs: tuple[int, int] | None = (-1, 2)
) -> Exploration:
    source = folder / "main.c"
    source.write_text(text if text.startswith("#include") else HEADERS + text)
    specification = from_names(list(properties))
    loaded = load([str(source)], FrontEndOptions(), specification)
    options = ExploreOptions(inputs=inputs, max_seconds=20, max_states=50_000)
    return explore(loaded, specification, options)


@pytest.mark.parametrize(
    "body",
    [
        "struct rlimit r; r.rlim_cur = 5; getrlimit(RLIMIT_NOFILE, &r); assert(r.rlim_cur == 5);",
        "struct rlimit r; assert(getrlimit(RLIMIT_NOFILE, &r) == 0);",
        "struct rlimit r; assert(getrlimit(RLIMIT_NOFILE, &r) == -1);",
        "char b[1] = {9}; recv(3, b, 1, 0); assert(b[0] == 9);",
        "char b[1]; assert(recv(3, b, 1, 0) != 1);",
        "char b[1]; if (gethostname(b, 1)) assert(b[0] == 0);",
        "socklen_t n = 1; struct sockaddr a; a.sa_family = 9;"
        " accept(3, &a, &n); assert(a.sa_family == 9);",
        "socklen_t n = 1; struct sockaddr a; accept(3, &a, &n); assert(n == 1);",
        "char b[1] = {9}; gethostname(b, 1); assert(b[0] == 9);",
        "char b[2]; assert(getcwd(b, 2) == b);",
        "char b[2]; assert(getcwd(b, 2) == NULL);",
        "errno = 0; if (close(3) < 0) assert(errno != 1);",
        "errno = 0; close(3); assert(errno != 1);",
        "struct rlimit r; errno = 0; if (getrlimit(0, &r)) assert(errno != 1);",
        "char b[1]; errno = 0; if (read(3, b, 1) < 0) assert(errno != 1);",
        "char b[1]; errno = 0; write(3, b, 0); assert(errno != 1);",
    ],
)
def test_what_may_happen(body: str, tmp_path: Path) -> None:
    found = explored(tmp_path, f"int main(void) {{ {body} return 0; }}")
    assert found.verdict.value == "false", found.reason


@pytest.mark.parametrize(
    "body",
    [
        "struct rlimit r; int e = getrlimit(RLIMIT_NOFILE, &r); assert(e == 0 || e == -1);",
        "char b[1]; ssize_t n = recv(3, b, 1, 0); assert(n >= -1 && n <= 1);",
        "char b[2] = {9, 9}; recv(3, b, 1, 0); assert(b[1] == 9);",
        "char b[1]; if (gethostname(b, 1) == 0) assert(b[0] == 0);",
        "struct { struct rlimit r; int x; } s; s.x = 7; getrlimit(0, &s.r); assert(s.x == 7);",
        "errno = 5; if (close(3) < 0) assert(errno > 0); else assert(errno == 5);",
        "accept(3, NULL, NULL);",
    ],
)
def test_what_cannot_happen(body: str, tmp_path: Path) -> None:
    found = explored(tmp_path, f"int main(void) {{ {body} return 0; }}")
    assert found.reason.startswith("holds for inputs") or found.verdict.value == "true"


def test_addresses_of_sockets_with_the_extensions_of_gnu(tmp_path: Path) -> None:
    text = """#define _GNU_SOURCE
    #include <assert.h>
    #include <sys/socket.h>
    int main(void) {
        socklen_t n = 1; struct sockaddr a; a.sa_family = 9;
        if (accept(3, &a, &n) >= 0) assert(a.sa_family == 9);
        return 0;
    }"""
    source = tmp_path / "gnu.c"
    source.write_text(text)
    specification = from_names([])
    loaded = load([str(source)], FrontEndOptions(), specification)
    found = explore(loaded, specification, ExploreOptions(inputs=(-1, 2), max_seconds=20))
    assert found.verdict.value == "false", found.reason


def test_a_date_that_is_printed_while_another_thread_changes_it(tmp_path: Path) -> None:
    text = """#include <pthread.h>
    #include <time.h>
    struct tm d; char b[1];
    void *work(void *p) { d.tm_year = 1; return 0; }
    int main(void) {
        pthread_t t; pthread_create(&t, 0, work, 0); strftime(b, 1, "%Y", &d); return 0;
    }"""
    assert explored(tmp_path, text, "no-data-race").verdict.value == "false"


def test_errno_is_no_part_of_a_program_that_never_looks_at_it(tmp_path: Path) -> None:
    loaded = program(tmp_path, HEADERS + "int main(void) { return close(3); }")
    assert "__errno_location" not in loaded.functions


POSSIBLE_RESULTS = {
    "write(3, b, 2)": (-1, 2),
    "send(3, b, 1, 0)": (-1, 1),
    "fwrite(b, 2, 1, stdout)": (0, 1),
    "open(b, O_RDONLY)": (-1, 3),
    "close(3)": (-1, 0),
    "isatty(1)": (0, 3),
    "by_pointer(3, b, 2)": (-1, 2),
    "fputs(b, stdout)": (-1, 3),
}


@pytest.mark.parametrize("call", POSSIBLE_RESULTS)
def test_results_that_there_are(call: str, tmp_path: Path) -> None:
    """`left -= write(from, left)` never gets below 0."""
    least, most = POSSIBLE_RESULTS[call]
    head = (
        HEADERS + "#include <stdio.h>\nssize_t (*by_pointer)(int, const void *, size_t) = write;\n"
    )
    body = 'int main(void) { char b[] = "a"; long n = %s; assert(%s); return 0; }'
    text = head + body % (call, f"{least} <= n && n <= {most}")
    found = explored(tmp_path, text, "assertions", "valid-access", inputs=(-3, 3))
    assert found.reason.startswith("holds for inputs"), found.reason
    for value in (least, most):
        found = explored(tmp_path, head + body % (call, f"n != {value}"), inputs=(-3, 3))
        assert found.verdict.value == "false", value


def test_output_through_a_pointer_reads_what_it_prints(tmp_path: Path) -> None:
    text = "#include <stdio.h>\nint (*say)(const char *) = puts;"
    text += 'int main(void) { char b[1] = "a"; return say(b) == 7; }'
    assert explored(tmp_path, text, "valid-access").verdict.value == "false"


RACE = """char b[2]; struct sockaddr a; struct rlimit r; char name[2] = "x";
void *work(void *p) { %s return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); %s pthread_join(t, 0); return 0; }
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("b[0] = 1;", "recv(3, b, 1, 0);"),
        ("return (void *)(long)r.rlim_max;", "getrlimit(0, &r);"),
        ("r.rlim_cur = 1;", "setrlimit(0, &r);"),
        ("a.sa_family = 1;", "connect(3, &a, 2);"),
        ("a.sa_data[0] = 1;", "bind(3, &a, 3);"),
        ("name[0] = 'y';", "unlink(name);"),
        ("name[0] = 'y';", "open(name, O_RDONLY);"),
    ],
)
def test_accesses_of_a_call_race(one: str, other: str, tmp_path: Path) -> None:
    found = explored(tmp_path, RACE % (one, other), "no-data-race")
    assert found.verdict.value == "false", found.reason
    ordered = RACE.replace("%s pthread_join(t, 0);", "pthread_join(t, 0); %s")
    found = explored(tmp_path, ordered % (one, other), "no-data-race")
    assert found.reason.startswith("holds for inputs") or found.verdict.value == "true"


@pytest.mark.parametrize(
    "body",
    [
        "char *b = malloc(0); recv(3, b, 1, 0);",
        "struct rlimit *r = malloc(8); getrlimit(0, r);",
        "struct sockaddr *a = malloc(1); connect(3, a, 2);",
    ],
)
def test_an_object_that_is_too_small(body: str, tmp_path: Path) -> None:
    text = f"int main(void) {{ {body} exit(0); }}"
    found = explored(tmp_path, text, "valid-memsafety")
    assert found.verdict.value == "false" and "access" in found.reason, found.reason


SYSTEM = """#include <assert.h>
#include <stdlib.h>
#include <unknown.h>
int x; char text[2] = "a";
"""
UNKNOWN_HEADER = """struct point { int x, y; };
struct list { struct list *next; };
struct table { int n; void (*call)(void); };
struct outer { struct table *table; };
int measure(int);
int fill(struct point *);
int fill_text(char *, int);
int look(const struct point *);
int look_at(const char *);
char *name_of(int);
struct point *origin(void);
int walk(struct list *);
int with_table(const struct table *);
int with_outer(struct outer *);
int with_void(const void *);
int pthread_unknown_np(int *);
struct stream; struct stream *begin(void); int end(struct stream *);
"""


def of_unknown_system(
    folder: Path, text: str, *properties: str, inputs: tuple[int, int] = (-1, 2)
) -> Exploration:
    system = folder / "system"
    system.mkdir(exist_ok=True)
    (system / "unknown.h").write_text("#pragma GCC system_header\n" + UNKNOWN_HEADER)
    source = folder / "main.c"
    source.write_text(SYSTEM + text)
    specification = from_names(list(properties))
    options = FrontEndOptions(include_dirs=(str(system),))
    loaded = load([str(source)], options, specification)
    return explore(loaded, specification, ExploreOptions(inputs=inputs, max_seconds=20))


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("assert(measure(1) == 0);", "false"),
        ("struct point p = {7, 7}; fill(&p); assert(p.y == 7);", "false"),
        ("char b[1] = {7}; fill_text(b, 1); assert(b[0] == 7);", "false"),
        ("fill(&global); assert(global.x == 7);", "false"),
        ("struct point p = {7, 7}; look(&p); assert(p.y == 7);", "true"),
        ("x = 7; measure(2); look_at(text); assert(x == 7);", "true"),
        ("end(begin());", "true"),
        ("fill(0);", "true"),
    ],
)
def test_functions_that_only_a_header_of_the_system_knows(
    body: str, wanted: str, tmp_path: Path
) -> None:
    text = f"struct point global = {{7, 7}};\nint main(void) {{ {body} return 0; }}"
    found = of_unknown_system(tmp_path, text)
    holds = found.reason.startswith("holds for inputs") or found.verdict.value == "true"
    assert holds == (wanted == "true") and (holds or found.verdict.value == "false"), found.reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("struct point *p = malloc(8); fill(p);", "how much memory it may write"),
        ("char *p = text; fill_text(p, 2);", "how much memory it may write"),
        ("struct { struct point p; int z; } s; fill(&s.p);", "how much memory it may write"),
        ("struct point *p = origin();", "it returns memory that is not modelled"),
        ("char *p = name_of(1);", "a string of 8 or more characters"),
        ("struct list l; walk(&l);", "pointers that lead to others"),
        ("struct table t; with_table(&t);", "a callback"),
        ("struct outer o; with_outer(&o);", "a callback"),
        ("with_void(text);", "how much memory it may read"),
        ("int n; pthread_unknown_np(&n);", "a function of threads"),
        ("int (*f)(struct point *) = fill; struct point p; f(&p);", "called through a pointer"),
    ],
)
def test_what_is_refused(body: str, reason: str, tmp_path: Path) -> None:
    text = f"int main(void) {{ {body} return 0; }}"
    found = of_unknown_system(tmp_path, text)
    assert found.verdict.value == "unknown" and reason in found.reason
    assert "main.c:5" in found.reason or "unknown.h" in found.reason


@pytest.mark.parametrize(
    ("parameter", "argument"),
    [
        ("struct operations *", "&o"),
        ("void *", "&o"),
        ("const void *", "&o"),
        ("char *", "(char *)&o"),
    ],
)
def test_a_callback_in_a_struct_for_a_function_of_the_program(
    parameter: str, argument: str, tmp_path: Path
) -> None:
    text = f"""#include <assert.h>
    struct operations {{ int n; int (*run)(void); }};
    int undefined({parameter});
    """
    text += """
    int x; int run(void) { return x = 1; }
    int main(void) { struct operations o = {1, run}; undefined(ARGUMENT); assert(x == 0); return 0; }"""
    found = explored(tmp_path, text.replace("ARGUMENT", argument))
    assert found.verdict.value == "unknown" and "callback" in found.reason


def test_a_function_of_the_system_that_the_program_declares_again(tmp_path: Path) -> None:
    text = "extern struct point *origin(void); int main(void) { origin(); return 0; }"
    found = of_unknown_system(tmp_path, text)
    assert found.verdict.value == "unknown" and "memory that is not modelled" in found.reason


def test_assumptions_name_the_functions(tmp_path: Path) -> None:
    text = (
        "int main(void) { char b[2]; struct rlimit r; recv(3, b, 2, 0); return getrlimit(0, &r); }"
    )
    loaded = program(tmp_path, HEADERS + text)
    assert (
        "functions of the system without a model (recv, getrlimit): their results, and what they"
        " write, can be anything that POSIX allows" in loaded.assumptions
    )


@pytest.mark.parametrize("use", ["return rand();", "int (*f)(void) = rand; return f();"])
def test_what_need_not_be_thread_safe_is_an_assumption_about_races(
    use: str, tmp_path: Path
) -> None:
    text = f"#include <stdlib.h>\nint main(void) {{ {use} }}"
    said = "calls of functions that need not be thread-safe do not race: rand"
    assert said in program(tmp_path, text, ("no-data-race",)).assumptions
    assert said not in program(tmp_path, text).assumptions
    own = "int rand(void) { return 4; } int main(void) { return rand(); }"
    assert said not in program(tmp_path, own, ("no-data-race",)).assumptions


def test_each_function_is_in_one_list() -> None:
    modelled = set(index_library()[0])
    lists = [read_effects(), read_list("no_effect.txt"), read_list("unsupported.txt")]
    for number, one in enumerate(lists):
        for other in lists[number + 1 :]:
            assert not set(one) & set(other)
    through_pointers = {name for name, file in index_library()[0].items() if file == "output.c"}
    assert set(lists[0]) & modelled == through_pointers


MORE = """#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/select.h>
#include <sys/utsname.h>
#include <sys/ioctl.h>
#include <fcntl.h>
#include <dirent.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/stat.h>
#include <signal.h>
#include <time.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
"""


POLL = "struct pollfd p = {5, POLLIN, 0};"
DATE = "time_t t = 0; struct tm d;"


@pytest.mark.parametrize(
    ("body", "inputs", "wanted"),
    [
        (f"{POLL} assert(poll(&p, 1, 0) <= 0);", (0, 2), "false"),
        (f"{POLL} poll(&p, 1, 0); assert(p.fd == 5);", (0, 2), "true"),
        (f"{POLL} if (poll(&p, 1, 0) == 0) assert(!p.revents);", (0, 2), "true"),
        (f"{POLL} poll(&p, 1, 0); assert(!(p.revents & ~0x39));", (0, 64), "true"),
        (f"{POLL} p.fd = -1; poll(&p, 1, 0); assert(!p.revents);", (0, 2), "true"),
        (f"{POLL} assert(poll(&p, 1, -1) != 0);", (0, 2), "true"),
        ("struct timeval t = {-1, 0}; assert(select(0, 0, 0, 0, &t) >= 0);", (0, 2), "false"),
        (
            "struct timeval t = {0, 2000000}; select(0, 0, 0, 0, &t); assert(!t.tv_sec);",
            (0, 2),
            "false",
        ),
        ("char *l = 0; size_t n = 0; if (getline(&l, &n, stdin) < 0) assert(!l);", (0, 2), "false"),
        ("assert(signal(2, SIG_IGN) == SIG_DFL);", (0, 0), "false"),
        ("signal(2, SIG_DFL); assert(signal(2, SIG_IGN) == SIG_DFL);", (0, 0), "true"),
        ("signal(2, exit); assert(signal(2, SIG_IGN) != exit);", (0, 0), "false"),
        ("assert(signal(SIGKILL, SIG_IGN) != SIG_ERR);", (0, 0), "false"),
        ("assert(signal(SIGPIPE, SIG_IGN) != SIG_ERR);", (0, 0), "true"),
        ("assert(sysconf(_SC_OPEN_MAX) != -1);", (-1, 1), "false"),
        ("assert(sysconf(_SC_NPROCESSORS_ONLN) > 0);", (-1, 1), "true"),
        ("unsigned short x[3] = {1, 2, 3}; assert(nrand48(x) >= 0);", (0, 1), "true"),
        ("assert(htons(0x1234) == 0x3412 && ntohl(0x12345678) == 0x78563412);", (0, 0), "true"),
        (f"{DATE} if (localtime_r(&t, &d)) assert(d.tm_mon == 1);", (1, 1), "true"),
        (f"{DATE} if (localtime_r(&t, &d)) assert(d.tm_sec != 1);", (1, 1), "false"),
        (f"{DATE} assert(gmtime_r(&t, &d));", (1, 1), "false"),
        ("int n = 7; ioctl(3, FIONREAD, &n); assert(n == 7);", (0, 2), "false"),
        ("int n = fcntl(3, F_GETFL); assert(n != 2);", (0, 2), "false"),
        ('assert(gethostbyname("a"));', (0, 0), "false"),
        ("assert(getpwuid(1));", (0, 0), "false"),
        ("SIGNALS sigwait(&s, &n); assert(n == 2 || n == 4);", (1, 8), "true"),
        ("SIGNALS sigwait(&s, &n); assert(n == 2);", (1, 8), "false"),
        ("SIGNALS assert(sigwaitinfo(&s, NULL) == 2);", (0, 0), "false"),
        ("SIGNALS assert(sigtimedwait(&s, NULL, NULL) > 0);", (0, 0), "false"),
        ("SIGNALS sigprocmask(SIG_BLOCK, &s, NULL); raise(4); assert(0);", (2, 2), "false"),
        ("SIGNALS sigprocmask(SIG_BLOCK, &s, NULL); raise(5); assert(0);", (2, 2), "true"),
        ("signal(5, SIG_IGN); raise(5); assert(0);", (2, 2), "false"),
        ("signal(5, SIG_IGN); signal(5, SIG_DFL); raise(5); assert(0);", (2, 2), "true"),
        (
            "struct sigaction a = {.sa_handler = SIG_IGN}; sigaction(5, &a, NULL); raise(5);"
            " assert(0);",
            (2, 2),
            "false",
        ),
        ("raise(SIGCHLD); assert(0);", (2, 2), "false"),
        ("assert(raise(65) == 0);", (2, 2), "false"),
        (
            "SIGNALS sigprocmask(SIG_BLOCK, &s, NULL); kill(getpid(), 4); assert(0);",
            (2, 2),
            "false",
        ),
        ("kill(getpid(), 9); assert(0);", (2, 2), "true"),
        ("kill(getpid() + 1, 9); assert(0);", (2, 2), "false"),
        (
            "SIGNALS sigset_t o; sigprocmask(SIG_BLOCK, &s, NULL); sigprocmask(SIG_UNBLOCK, &s, &o);"
            " assert(sigismember(&o, 4));",
            (2, 2),
            "true",
        ),
        (f"{DATE} if (localtime_r(&t, &d)) assert(d.tm_mday == 0);", (0, 0), "true"),
        (f"{DATE} assert(ctime(&t));", (0, 0), "false"),
        (f"{DATE} if (gmtime_r(&t, &d)) assert(asctime(&d));", (1, 1), "false"),
    ],
)
def test_models_of_the_system(
    body: str, inputs: tuple[int, int], wanted: str, tmp_path: Path
) -> None:
    signals = "sigset_t s; int n; sigemptyset(&s); sigaddset(&s, 2); sigaddset(&s, 4);"
    body = body.replace("SIGNALS", signals)
    text = MORE + f"int main(void) {{ {body} return 0; }}"
    found = explored(tmp_path, text, inputs=inputs)
    holds = found.reason.startswith("holds for inputs") or found.verdict.value == "true"
    assert holds == (wanted == "true") and (holds or found.verdict.value == "false"), found.reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("char b[1]; recv(3, b, 1, MSG_TRUNC);", "with these flags"),
        ("int n = 0; ioctl(3, FIONREAD, (unsigned long)&n);", "a pointer as an integer"),
        ('int n; sscanf("0x", "%x", &n);', "0x without digits"),
        ('char b[2]; sscanf("a", "%2c", b);', "fewer characters"),
        ("struct sigaction a = {.sa_handler = exit}; sigaction(5, &a, NULL);", "is handled"),
        ("signal(5, exit);", "is handled"),
        ("signal(5, exit); raise(5);", "is handled"),
        ("raise(SIGSTOP);", "stops the process"),
        ("kill(0, 15);", "a group of processes"),
        (
            "sigset_t s; sigemptyset(&s); sigaddset(&s, 5); sigprocmask(SIG_BLOCK, &s, NULL); raise(5);"
            " sigprocmask(SIG_UNBLOCK, &s, NULL);",
            "may be pending",
        ),
        ("int p[2]; pipe(p);", "files that threads wait on"),
        ("char b[64]; setvbuf(stdout, b, _IOFBF, 64);", "a buffer of its own"),
        ("char b[BUFSIZ]; setbuf(stdout, b);", "a buffer of its own"),
        ("int p[2]; socketpair(1, 1, 0, p);", "files that threads wait on"),
    ],
)
def test_calls_that_do_more(body: str, reason: str, tmp_path: Path) -> None:
    found = explored(tmp_path, MORE + f"int main(void) {{ {body} return 0; }}")
    assert found.verdict.value == "unknown" and reason in found.reason


@pytest.mark.parametrize("is_gnu", [False, True])
def test_a_function_that_has_two_versions(is_gnu: bool, tmp_path: Path) -> None:
    define = "_GNU_SOURCE" if is_gnu else "_POSIX_C_SOURCE 200112L"
    text = f"#define {define}\n#include <string.h>\nchar b[2];\n"
    loaded = program(tmp_path, text + "int main(void) { strerror_r(1, b, 2); return 0; }")
    assert bool(loaded.unsupported) is is_gnu


@pytest.mark.parametrize(
    "body",
    [
        'struct hostent *h = gethostbyname("a"); if (h) assert(h->h_length == 4);',
        "struct passwd *p = getpwuid(1); if (p) assert(p->pw_name[15] == 0);",
    ],
)
def test_what_a_data_base_has_beyond_the_model(body: str, tmp_path: Path) -> None:
    loaded = program(tmp_path, MORE + f"int main(void) {{ {body} return 0; }}")
    found = check(loaded, 2, time.monotonic() + 20)
    assert found.answer is Answer.UNKNOWN
    assert "a host with several names" in found.reason or "a name of 16" in found.reason


FILES = "fd_set f; struct timeval t = {1, 0}; FD_ZERO(&f); FD_SET(2, &f);"
ADDRESS = "struct addrinfo *r;"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('struct stat s = {0}; if (stat("a", &s)) assert(s.st_size == 0);', Answer.HOLDS),
        ('struct stat s = {0}; if (!stat("a", &s)) assert(s.st_size == 0);', Answer.VIOLATED),
        (f"{FILES} int n = select(3, &f, 0, 0, &t); assert(n <= 1);", Answer.HOLDS),
        (f"{FILES} if (select(3, &f, 0, 0, &t) == 1) assert(FD_ISSET(2, &f));", Answer.HOLDS),
        (f"{FILES} assert(select(3, &f, 0, 0, &t) != 1);", Answer.VIOLATED),
        (f"{FILES} assert(select(2, &f, 0, 0, &t) <= 0);", Answer.HOLDS),
        (f"{FILES} assert(select(3, &f, 0, 0, 0) != 0);", Answer.HOLDS),
        (f"{FILES} assert(select(3, &f, 0, 0, &t) != 0);", Answer.VIOLATED),
        ('assert(opendir("."));', Answer.VIOLATED),
        (f'{ADDRESS} assert(getaddrinfo("a", 0, 0, &r));', Answer.VIOLATED),
        (
            f'{ADDRESS} if (!getaddrinfo("a", 0, 0, &r)) assert(r->ai_addr->sa_data[0] != 3);',
            Answer.VIOLATED,
        ),
    ],
)
def test_models_with_inputs_of_any_value(body: str, expected: Answer, tmp_path: Path) -> None:
    text = MORE + f"int main(void) {{ {body} return 0; }}"
    outcome = outcome_of("orders", text, tmp_path)
    assert outcome.answer is expected, outcome.reason


DIRECTORY = """#include <assert.h>
#include <dirent.h>
int main(void) {
  DIR *d = opendir(".");
  if (!d) return 0;
  struct dirent *e = readdir(d);
  if (e) assert(CONDITION);
  closedir(d);
  LAST
  return 0;
}
"""


@pytest.mark.parametrize(
    ("condition", "last", "of", "expected"),
    [
        ("e->d_name[0] != 0 && e->d_name[1] != '/'", "", "assertions", Answer.HOLDS),
        ("e->d_name[0] != 'x'", "", "assertions", Answer.VIOLATED),
        ("e->d_type != 4", "", "assertions", Answer.VIOLATED),
        ("1", "", "valid-access", Answer.HOLDS),
        ("1", "if (e) e->d_name[0] = 0;", "valid-access", Answer.VIOLATED),
        ("1", "closedir(d);", "valid-access", Answer.VIOLATED),
    ],
)
def test_directories(condition: str, last: str, of: str, expected: Answer, tmp_path: Path) -> None:
    text = DIRECTORY.replace("CONDITION", condition).replace("LAST", last)
    outcome = outcome_of("orders", text, tmp_path, of)
    assert outcome.answer is expected, outcome.reason


MAPPED = """#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(void) {
  char *p = mmap(NULL, 5000, PROT, FLAGS, -1, 0);
  if (p == MAP_FAILED) return 0;
  BODY
  return 0;
}
"""
ANONYMOUS = "MAP_PRIVATE | MAP_ANONYMOUS"
BOTH = "PROT_READ | PROT_WRITE"


@pytest.mark.parametrize(
    ("protection", "flags", "body", "of", "expected"),
    [
        (BOTH, ANONYMOUS, "assert(p[4999] == 0); munmap(p, 5000);", "assertions", Answer.HOLDS),
        (BOTH, ANONYMOUS, "p[8191] = 1; munmap(p, 8192);", "valid-memsafety", Answer.HOLDS),
        (BOTH, ANONYMOUS, "p[8192] = 1;", "valid-access", Answer.VIOLATED),
        (BOTH, ANONYMOUS, "munmap(p, 5000); p[0] = 1;", "valid-access", Answer.VIOLATED),
        (BOTH, ANONYMOUS, "munmap(p, 1);", "assertions", Answer.UNKNOWN),
        (BOTH, ANONYMOUS, "free(p);", "valid-memsafety", Answer.VIOLATED),
        (BOTH, ANONYMOUS, "p = malloc(8); munmap(p, 8);", "valid-access", Answer.UNKNOWN),
        (BOTH, "MAP_SHARED", "", "assertions", Answer.UNKNOWN),
        ("PROT_READ", ANONYMOUS, "", "assertions", Answer.UNKNOWN),
    ],
)
def test_mappings(
    protection: str, flags: str, body: str, of: str, expected: Answer, tmp_path: Path
) -> None:
    text = MAPPED.replace("PROT,", f"{protection},").replace("FLAGS", flags).replace("BODY", body)
    outcome = outcome_of("orders", text, tmp_path, of)
    assert outcome.answer is expected, outcome.reason


STREAM_USES = [
    "fclose(f);",
    "fgets(b, 2, f);",
    "getc(f);",
    'fputs("a", f);',
    "fwrite(b, 1, 1, f);",
    'fprintf(f, "a");',
    'fscanf(f, "a");',
    "feof(f);",
]


@pytest.mark.parametrize("use", STREAM_USES)
def test_a_stream_that_was_not_opened(use: str, tmp_path: Path) -> None:
    text = """#include <stdio.h>
    int main(void) {{ char b[2] = "a"; FILE *f = fopen("x", "r"); {} return 0; }}"""
    found = explored(tmp_path, text.format(use), "valid-access")
    assert found.verdict.value == "false" and "null pointer" in found.reason, found.reason
    opened = text.format(f"if (f != NULL) {{ {use} }} fflush(NULL); putc(1, stderr);")
    found = explored(tmp_path, opened, "valid-access")
    assert found.verdict.value == "true" or found.reason.startswith("holds for inputs")


def test_that_a_stream_is_not_used_after_its_end_is_an_assumption(tmp_path: Path) -> None:
    text = '#include <stdio.h>\nint main(void) { FILE *f = fopen("x", "r"); if (f) %s; return 0; }'
    assert any("closed" in said for said in program(tmp_path, text % "fclose(f)", ()).assumptions)
    assert not any("closed" in said for said in program(tmp_path, text % "getc(f)", ()).assumptions)


@pytest.mark.parametrize(
    ("body", "is_true"),
    [
        ("struct timespec t; assert(clock_gettime(1, &t) == 0);", True),
        ("struct timespec t; assert(clock_gettime(10, &t) == 0);", False),
        ("struct timeval o = {0, 0}; if (adjtime(0, &o) == 0) assert(o.tv_sec == 0);", False),
        ("setvbuf(stdout, NULL, _IONBF, 0); setbuf(stderr, NULL);", True),
        ("assert(setvbuf(stdout, NULL, _IONBF, 0) == 0);", False),
    ],
)
def test_what_calls_may_come_to(body: str, is_true: bool, tmp_path: Path) -> None:
    text = f"""#define _DEFAULT_SOURCE
    #include <assert.h>
    #include <stdio.h>
    #include <time.h>
    #include <sys/time.h>
    int main(void) {{ {body} return 0; }}"""
    found = explored(tmp_path, text)
    holds = found.verdict.value == "true" or found.reason.startswith("holds for inputs")
    assert holds is is_true and (holds or found.verdict.value == "false"), found.reason
