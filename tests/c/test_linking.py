"""Several files become one program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.errors import InputError
from plait.model.properties import Specification
from plait.semantics.run import run
from tests.c.support import write


def status(paths: list[str], options: FrontEndOptions | None = None) -> int | None:
    program = load(paths, options or FrontEndOptions(), Specification())
    assert not program.unsupported
    return run(program, Specification(), seed=1).status


def test_statics_stay_apart_and_externs_resolve(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        one="""static int hidden = 1; static int get(void) { return hidden; }
               extern int shared; int two(void); int main(void) { shared += get(); return shared * 10 + two(); }""",
        two="""static int hidden = 4; static int get(void) { return hidden; } int shared = 2;
               int two(void) { return get(); }""",
    )
    assert status(paths) == 34


def test_two_definitions_are_an_error_that_names_both(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        one="int f(void){return 1;} int main(void){return f();}",
        two="int f(void){return 2;}",
    )
    with pytest.raises(InputError, match=r"two\.c:1:1: function 'f' is also defined in .*one\.c"):
        status(paths)
    paths = write(tmp_path, one="int v = 1; int main(void){return v;}", two="int v = 2;")
    with pytest.raises(InputError, match=r"variable 'v' is also defined"):
        status(paths)


def test_extern_of_another_size_is_an_error(tmp_path: Path) -> None:
    paths = write(tmp_path, one="extern long v; int main(void){return v;}", two="char v = 2;")
    with pytest.raises(
        InputError, match=r"variable 'v' has another type where .*two\.c defines it"
    ):
        status(paths)


def test_a_users_function_replaces_the_librarys(tmp_path: Path) -> None:
    text = '#include <string.h>\nsize_t strlen(const char *s) { return 77; }\nint main(void) { return strlen("a"); }'
    assert status(write(tmp_path, one=text)) == 77


def test_an_undefined_function_is_an_assumption(tmp_path: Path) -> None:
    text = "int other(int *); int main(void) { int x = 1; other(&x); return x; }"
    paths = write(tmp_path, one=text)
    program = load(paths, FrontEndOptions(), Specification())
    assert program.assumptions == [
        "function 'other' is not defined: it may return any value and touches no memory"
    ]
    assert status(paths) == 1


def test_an_undefined_function_through_a_pointer(tmp_path: Path) -> None:
    text = "int other(int); int main(void) { int (*p)(int) = other; p(1); return 4; }"
    assert status(write(tmp_path, one=text)) == 4


def test_options_reach_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "value.h").write_text("#define FROM_HEADER 5\n")
    (tmp_path / "forced.h").write_text("#define FORCED 100\n")
    text = """#include <value.h>
    #ifdef unix
    #error unix
    #endif
    int begin(void) { return FROM_HEADER + GIVEN + FORCED; }"""
    options = FrontEndOptions(
        include_dirs=(str(tmp_path / "inc"),),
        defines=("GIVEN=20",),
        force_includes=(str(tmp_path / "forced.h"),),
        entry="begin",
    )
    assert status(write(tmp_path, one=text), options) == 125


def test_compile_commands_choose_files_and_flags(tmp_path: Path) -> None:
    one, two = write(
        tmp_path,
        one="int f(void); int main(void) { return f() + V; }",
        two="int f(void) { return V; }",
    )
    commands = [
        {"directory": str(tmp_path), "file": "one.c", "command": "cc -DV=3 -c one.c"},
        {
            "directory": str(tmp_path),
            "file": "two.c",
            "arguments": ["cc", "-D", "V=40", "-c", "two.c"],
        },
        {"directory": str(tmp_path), "file": "three.c", "command": "cc three.c"},
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))
    options = FrontEndOptions(compile_commands=str(tmp_path))
    assert status([one, two], options) == 43
    with pytest.raises(InputError, match=r"no entry for 'four\.c'"):
        status(["four.c"], options)
    (tmp_path / "compile_commands.json").write_text("{")
    with pytest.raises(InputError, match="not a compilation data base"):
        status([one], options)


def test_main_gets_the_arguments_that_are_fixed(tmp_path: Path) -> None:
    text = "int main(int argc, char **argv, char **envp) { return argc * 10 + !!argv[0][0] + !argv[1] + !envp[0]; }"
    paths = write(tmp_path, one=text)
    options = FrontEndOptions(arguments=("./program",))
    assert status(paths, options) == 13
    program = load(paths, options, Specification())
    assert "the program is called as: ./program" in program.assumptions
    assert "the environment is empty" in program.assumptions


def test_works_without_system_headers(tmp_path: Path) -> None:
    text = """#include <assert.h>
    #include <pthread.h>
    #include <stdatomic.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <semaphore.h>
    #include <threads.h>
    atomic_int a; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int main(void) { pthread_mutex_lock(&m); a++; assert(a == 1); pthread_mutex_unlock(&m); return (int)strlen("abc"); }"""
    assert status(write(tmp_path, one=text), FrontEndOptions(system_headers=False)) == 3


def test_inline_and_weak_definitions_may_repeat(tmp_path: Path) -> None:
    header = "inline int twice(int x) { return 2 * x; }\n"
    paths = write(
        tmp_path,
        one=header
        + "int two(void); int w(void); int main(void) { return twice(1) * 100 + two() * 10 + w(); }",
        two=header
        + "__attribute__((weak)) int w(void) { return 1; } int two(void) { return twice(2); }",
        three="int w(void) { return 5; }",
    )
    assert status(paths) == 245


def test_flags_that_change_the_meaning(tmp_path: Path) -> None:
    [one] = write(tmp_path, one="int main(void) { char c = -1; return c > 0; }")
    entry = {"directory": str(tmp_path), "file": "one.c"}
    for command, expected in (("cc -c one.c", 0), ("cc -funsigned-char -c one.c", 1)):
        (tmp_path / "compile_commands.json").write_text(json.dumps([{**entry, "command": command}]))
        assert status([one], FrontEndOptions(compile_commands=str(tmp_path))) == expected
    (tmp_path / "compile_commands.json").write_text(
        json.dumps([{**entry, "command": "cc -m32 one.c"}])
    )
    with pytest.raises(InputError, match="--data-model ILP32"):
        status([one], FrontEndOptions(compile_commands=str(tmp_path)))


def test_tentative_definitions_of_several_files_are_one_variable(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        one="int x; int y; int read(void); int main(void) { x = 3; return read() - 8; }",
        two="int x; int y = 5; int read(void) { return x + y; }",
    )
    loaded = load(files, FrontEndOptions(), Specification())
    assert sorted(item.name for item in loaded.objects if item.name in "xy") == ["x", "y"]
    assert run(loaded, Specification(), seed=1).exit_code == 0
