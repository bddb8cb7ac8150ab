"""Reading what libclang does not say off the text that clang prints for a declaration.

In that text macros are expanded, and constructs come in the order of the syntax tree.
"""

from __future__ import annotations

import re

from plait.errors import UnsupportedCode

_STRING = r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\bfor \(|[();{}]', re.DOTALL)


def for_heads(text: str) -> list[tuple[bool, bool, bool]]:
    """For each `for (a; b; c)` of a text, which parts are there."""
    heads = []
    for match in _TOKEN.finditer(text):
        if match.group() == "for (":
            heads.append(_for_head(text, match.end()))
    return heads


def generic_types(text: str) -> list[list[str]]:
    """For each `_Generic(value, type: ..., ...)` of a text, its types in order."""
    found = []
    for match in re.finditer(r"\b_Generic\(", text):
        items, depth, begin = [], 0, match.end()
        for token in _GENERIC_TOKEN.finditer(text, match.end()):
            mark = token.group()
            if mark in "([{":
                depth += 1
            elif mark in ")]}":
                if depth == 0:
                    items.append(text[begin : token.start()])
                    break
                depth -= 1
            elif mark == "," and depth == 0:
                items.append(text[begin : token.start()])
                begin = token.end()
        found.append([item.split(":")[0].strip() for item in items[1:]])
    return found


_GENERIC_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[()\[\]{},]', re.DOTALL)
_BASIC_WORDS = frozenset(
    "void char short int long float double signed unsigned _Bool const volatile restrict struct"
    " union enum __int128 _Atomic".split()
)


def decayed(type_: str) -> str:
    """The type of a controlling expression after lvalue conversion, spelled as clang does."""
    array = re.fullmatch(r"([^\[\]()]*?) ?\[\d*\]((?:\[\d+\])*)", type_)
    if array is not None:
        return f"{array[1].rstrip()} (*){array[2]}" if array[2] else _pointer_to(array[1])
    function = re.fullmatch(r"([^()]*?) ?(\([^()]*\))", type_)
    if function is not None:
        return f"{function[1].rstrip()} (*){function[2]}"
    if "*" in type_:
        return re.sub(r"(?:\b(?:const|volatile|restrict|__restrict)\b ?)+$", "", type_).rstrip()
    return re.sub(r"^(?:(?:const|volatile) )+", "", type_)


def _pointer_to(type_: str) -> str:
    type_ = type_.rstrip()
    return f"{type_}*" if type_.endswith("*") else f"{type_} *"


def resolved(type_: str, typedefs: dict[str, str], hidden: set[str]) -> str | None:
    """An association's type without typedefs; None where a textual answer may be wrong.

    `hidden` are names declared inside the function, which may hide those of the file.
    """
    if type_ in hidden:
        return None
    if type_ in typedefs:
        return typedefs[type_]
    words = re.findall(r"[A-Za-z_]\w*", type_)
    previous = ""
    for word in words:
        is_tag = previous in ("struct", "union", "enum")
        if word in hidden or not (is_tag or word in _BASIC_WORDS or word in typedefs):
            return None
        if word in typedefs and not is_tag:
            if re.search(r"[*(\[]|\bconst\b|\bvolatile\b", typedefs[word]):
                return None
            type_ = re.sub(rf"\b{word}\b", typedefs[word], type_)
        previous = word
    return type_


def assemblies(text: str) -> list[tuple[str, str]]:
    """For each asm statement of a text its template, without line breaks, and its operands."""
    found = []
    for match in re.finditer(_STRING + r"|\basm\b[a-z ]*\(", text, re.DOTALL):
        if match.group()[0] in "\"'":
            continue
        template, operands, depth = "", "", 0
        end = match.end()
        for token in re.finditer(_STRING + r"|[():]|[^\"'():]+", text[end:], re.DOTALL):
            mark = token.group()
            depth += {"(": 1, ")": -1}.get(mark, 0)
            if depth < 0:
                break
            if operands or mark == ":":
                operands += mark
            elif mark.startswith('"'):
                template += mark[1:-1]
        plain = template.replace("\\n", ";").replace("\\t", " ").strip("; ")
        found.append((plain, operands))
    return found


def _for_head(text: str, start: int) -> tuple[bool, bool, bool]:
    depth, parts, begin = 0, [], start
    for match in _TOKEN.finditer(text, start):
        token = match.group()
        if token in "({" or token == "for (":
            depth += 1
        elif token in ")}":
            if depth == 0:
                parts.append(text[begin : match.start()])
                break
            depth -= 1
        elif token == ";" and depth == 0:
            parts.append(text[begin : match.start()])
            begin = match.end()
    present = [bool(part.strip()) for part in parts]
    if len(present) != 3:
        raise UnsupportedCode("a for statement whose parts libclang does not tell apart")
    return present[0], present[1], present[2]
