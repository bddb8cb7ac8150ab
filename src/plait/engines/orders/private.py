"""Private memory of a path: disjoint cells, cut where an access needs parts of them."""

from __future__ import annotations

from collections.abc import Callable

from plait.logic.terms import Terms

Memory = dict[int, tuple[int, int]]  # address -> (size in bytes, term)
Initial = Callable[[int, int], int]  # address, size: the term of a cell that nobody has set

_LARGEST = 16


def read_cell(terms: Terms, memory: Memory, address: int, size: int, initial: Initial) -> int:
    cell = memory.get(address)
    if cell is not None and cell[0] == size:
        return cell[1]
    overlapping = _overlapping(memory, address, size)
    if not overlapping:
        return initial(address, size)
    result: int | None = None
    place = address
    for start, (length, term) in [*overlapping, (address + size, (0, 0))]:
        if place < start:
            result = _behind(terms, result, initial(place, start - place))
            place = start
        end = min(start + length, address + size)
        if place < end:
            piece = terms.extract(term, 8 * (place - start), 8 * (end - place))
            result = _behind(terms, result, piece)
            place = end
    assert result is not None
    return result


def write_cell(terms: Terms, memory: Memory, address: int, size: int, value: int) -> None:
    """Set a cell; what others have of it is cut off."""
    cell = memory.get(address)
    if cell is None or cell[0] != size:
        for start, (length, term) in _overlapping(memory, address, size):
            del memory[start]
            if start < address:
                memory[start] = address - start, terms.extract(term, 0, 8 * (address - start))
            kept = start + length - (address + size)
            if kept > 0:
                memory[address + size] = kept, terms.extract(term, 8 * (length - kept), 8 * kept)
    memory[address] = (size, value)


def merge_memories(
    terms: Terms, chosen: int, first: Memory, second: Memory, initial: Initial
) -> Memory:
    """The first where `chosen` holds, else the second."""
    if first == second:
        return first
    result: Memory = {}
    for address in dict.fromkeys([*first, *second]):
        mine, theirs = first.get(address), second.get(address)
        if mine == theirs:
            assert mine is not None
            result[address] = mine
            continue
        if mine is not None and theirs is not None and mine[0] == theirs[0]:
            result[address] = mine[0], terms.ite(chosen, mine[1], theirs[1])
            continue
        size = max(cell[0] for cell in (mine, theirs) if cell is not None)
        if _covers(result, address, size):
            continue
        # The cells of the two are cut differently, or only one has a cell here.
        start, end = _united(first, second, address, address + size)
        if end - start <= _LARGEST:
            one = read_cell(terms, first, start, end - start, initial)
            other = read_cell(terms, second, start, end - start, initial)
            write_cell(terms, result, start, end - start, terms.ite(chosen, one, other))
            continue
        for place in range(start, end):
            one = read_cell(terms, first, place, 1, initial)
            other = read_cell(terms, second, place, 1, initial)
            write_cell(terms, result, place, 1, terms.ite(chosen, one, other))
    return result


def _united(first: Memory, second: Memory, start: int, end: int) -> tuple[int, int]:
    """The smallest range around this one that no cell of either memory is partly in."""
    while True:
        cells = [
            *_overlapping(first, start, end - start),
            *_overlapping(second, start, end - start),
        ]
        lowest = min([start, *(place for place, _ in cells)])
        highest = max([end, *(place + size for place, (size, _) in cells)])
        if (lowest, highest) == (start, end):
            return start, end
        start, end = lowest, highest


def _covers(memory: Memory, address: int, size: int) -> bool:
    return (
        sum(
            min(start + length, address + size) - max(start, address)
            for start, (length, _) in _overlapping(memory, address, size)
        )
        == size
    )


def _overlapping(memory: Memory, address: int, size: int) -> list[tuple[int, tuple[int, int]]]:
    return [
        (place, cell)
        for place in range(address - _LARGEST + 1, address + size)
        if (cell := memory.get(place)) is not None and place + cell[0] > address
    ]


def _behind(terms: Terms, lower: int | None, upper: int) -> int:
    return upper if lower is None else terms.concat(upper, lower)
