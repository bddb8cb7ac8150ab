"""Make a C program smaller while a predicate stays true.

Works on the text of any C program, so it serves both generators, csmith and programs from
elsewhere: the text is cut into a tree of statements and bracketed groups, and parts of the tree
are deleted or replaced by smaller ones as long as `still_fails` accepts the result. What does not
compile any more is for the predicate to reject.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""\s*(\#[^\n]*(?:\\\n[^\n]*)*      # a preprocessor line
        |//[^\n]*|/\*.*?\*/
        |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'
        |[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*
        |\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_CLINGS_LEFT = frozenset((")", "]", ";", ",", ".", "->"))
_CLINGS_RIGHT = frozenset(("(", "[", ".", "!", "~", "->"))
_CLOSE = {"(": ")", "[": "]", "{": "}"}
_BINARY = frozenset(
    "+ - * / % & | ^ << >> < > <= >= == != && || ? : , = += -= *= /= %= &= |= ^= <<= >>=".split()
)


@dataclass(slots=True, eq=False)
class Group:
    """A bracketed piece; `open` is empty for the whole program."""

    open: str
    items: list[Item]


Item = str | Group


def parse(source: str) -> Group:
    stack = [Group("", [])]
    for match in _TOKEN.finditer(source):
        token = match[1]
        if token.startswith(("//", "/*")) or not token.strip():
            continue
        if token in _CLOSE:
            group = Group(token, [])
            stack[-1].items.append(group)
            stack.append(group)
        elif len(stack) > 1 and token == _CLOSE[stack[-1].open]:
            stack.pop()
        else:
            stack[-1].items.append(token)
    return stack[0]


def render(group: Group) -> str:
    tokens: list[str] = []
    _flatten(group, tokens)
    lines: list[str] = []
    line: list[str] = []
    depth = parentheses = 0

    def end_line() -> None:
        if line:
            lines.append("    " * depth + _join(line))
            line.clear()

    for position, token in enumerate(tokens):
        if token.startswith("#"):
            end_line()
            lines.append(token)
            continue
        if token == "}" and not parentheses:
            end_line()
            depth -= 1
            following = tokens[position + 1] if position + 1 < len(tokens) else ""
            line.append(token)
            if following not in (";", ",", "while", "else"):
                end_line()
            continue
        line.append(token)
        parentheses += (token == "(") - (token == ")")
        if token in ("{", ";") and not parentheses:
            end_line()
            depth += token == "{"
    end_line()
    return "\n".join(lines) + "\n"


def _flatten(group: Group, tokens: list[str]) -> None:
    if group.open:
        tokens.append(group.open)
    for item in group.items:
        if isinstance(item, Group):
            _flatten(item, tokens)
        else:
            tokens.append(item)
    if group.open:
        tokens.append(_CLOSE[group.open])


def _join(tokens: list[str]) -> str:
    text = tokens[0]
    for previous, token in zip(tokens, tokens[1:], strict=False):
        tight = token in _CLINGS_LEFT or previous in _CLINGS_RIGHT
        tight = tight or (token in "([" and previous[-1:].isalnum())
        text += token if tight else f" {token}"
    return text


def statements(group: Group) -> list[list[Item]]:
    """The items of a block or of the program, cut after each statement or definition."""
    chunks: list[list[Item]] = []
    chunk: list[Item] = []
    for position, item in enumerate(group.items):
        chunk.append(item)
        following = group.items[position + 1] if position + 1 < len(group.items) else ""
        if isinstance(item, Group):
            ends = item.open == "{" and not (
                following in (";", ",", "else", "=")
                or (following == "while" and chunk[0] == "do")
                or (isinstance(following, str) and _is_declarator(chunk, following))
            )
        else:
            ends = item == ";" or item.startswith("#") or (item == ":" and _is_label(chunk))
        if ends:
            chunks.append(chunk)
            chunk = []
    if chunk:
        chunks.append(chunk)
    return chunks


def _is_declarator(chunk: list[Item], following: str) -> bool:
    starts = {"struct", "union", "enum", "typedef", "static", "const", "volatile"}
    brackets = any(isinstance(item, Group) and item.open == "(" for item in chunk)
    if isinstance(chunk[0], str) and chunk[0] in starts and not brackets:
        return following == "*" or following.isidentifier()
    return False


def _is_label(chunk: list[Item]) -> bool:
    return chunk[0] in ("case", "default") or len(chunk) == 2


class _Shrinker:
    def __init__(
        self, source: str, still_fails: Callable[[str], bool], seconds: float, attempts: int
    ) -> None:
        self.still_fails = still_fails
        self.deadline = time.monotonic() + seconds
        self.attempts = attempts
        self.seen: set[str] = set()
        self.root = parse(source)

    @property
    def exhausted(self) -> bool:
        return self.attempts <= 0 or time.monotonic() > self.deadline

    def holds(self) -> bool:
        """Does the tree as it is now still fail?"""
        text = render(self.root)
        if text in self.seen or self.exhausted:
            return False
        self.seen.add(text)
        self.attempts -= 1
        return self.still_fails(text)

    def attempt(self, group: Group, items: list[Item]) -> bool:
        before, group.items = group.items, items
        if self.holds():
            return True
        group.items = before
        return False

    def groups(self) -> list[Group]:
        found: list[Group] = []
        pending = [self.root]
        while pending:
            group = pending.pop(0)
            found.append(group)
            pending.extend(item for item in group.items if isinstance(item, Group))
        return found

    def run(self) -> str:
        while not self.exhausted:
            before = len(render(self.root))
            self.delete_statements()
            self.hoist_bodies()
            self.simplify_expressions()
            if len(render(self.root)) >= before:
                break
        return render(self.root)

    def delete_statements(self) -> None:
        for group in self.groups():
            if group.open in ("", "{"):
                self._minimise(group, lambda: statements(group))  # noqa: B023
            if group.open in ("{", "(") and "," in group.items:
                self._minimise(group, lambda: _split_at_commas(group))  # noqa: B023

    def _minimise(self, group: Group, cut: Callable[[], list[list[Item]]]) -> None:
        """Delete runs of chunks, long runs first, from the end (uses come after definitions)."""
        size = len(cut())
        while size >= 1:
            end = len(cut())
            while end > 0 and not self.exhausted:
                chunks = cut()
                start = max(0, end - size)
                rest = chunks[:start] + chunks[end:]
                self.attempt(group, [item for chunk in rest for item in chunk])
                end = start
            size = size // 2 if size > 1 else 0

    def hoist_bodies(self) -> None:
        """`if (c) { body }` -> `body`, and loops and braces alike."""
        for group in self.groups():
            if group.open not in ("", "{"):
                continue
            index = 0
            while index < len(chunks := statements(group)) and not self.exhausted:
                index += 1
                for body in [item for item in chunks[index - 1] if isinstance(item, Group)]:
                    if body.open != "{" or group.open == "":
                        continue
                    replaced = [*chunks[: index - 1], list(body.items), *chunks[index:]]
                    if self.attempt(group, [item for chunk in replaced for item in chunk]):
                        index -= 1
                        break

    def simplify_expressions(self) -> None:
        for group in self.groups():
            changed = True
            while changed and not self.exhausted:
                changed = any(self.attempt(group, items) for items in _smaller(group))


def _split_at_commas(group: Group) -> list[list[Item]]:
    chunks: list[list[Item]] = [[]]
    for item in group.items:
        chunks[-1].append(item)
        if item == ",":
            chunks.append([])
    return [chunk for chunk in chunks if chunk]


def _smaller(group: Group) -> Iterator[list[Item]]:
    """Variants of a group in which one expression is replaced by a smaller one."""
    items = group.items
    if group.open in ("(", "["):
        for constant in ("0", "1"):
            if items and items not in (["0"], ["1"]):
                yield [constant]
    for index, item in enumerate(items):
        before, after = items[:index], items[index + 1 :]
        if isinstance(item, Group):
            if item.open == "(" and len(item.items) >= 1:
                yield [*before, "0", *after]
                if len(item.items) > 1:
                    yield [*before, "1", *after]
                if len(item.items) == 1:
                    yield [*before, *item.items, *after]
            yield [*before, *after]
            continue
        if re.fullmatch(r"0[xX][0-9a-fA-F]+\w*|\d{2,}\w*", item):
            yield [*before, "1", *after]
        if item in _BINARY:
            # An operand is what stands between two operators on the same level.
            start = index
            while start > 0 and not _ends_operand(items[start - 1]):
                start -= 1
            end = index + 1
            while end < len(items) and not _ends_operand(items[end]):
                end += 1
            yield [*items[:start], *items[index + 1 :]]
            yield [*items[:index], *items[end:]]
        elif item in ("-", "~", "!", "*", "&", "static", "const", "volatile", "inline", "++", "--"):
            yield [*before, *after]


def _ends_operand(item: Item) -> bool:
    return isinstance(item, str) and (item in _BINARY or item in (";", "return", "..."))


def shrink(
    source: str,
    still_fails: Callable[[str], bool],
    *,
    seconds: float = 120,
    attempts: int = 5000,
) -> str:
    """The smallest program found that still fails; `source` itself if it does not fail when
    formatted anew."""
    shrinker = _Shrinker(source, still_fails, seconds, attempts)
    if not shrinker.holds():
        return source
    return shrinker.run()
