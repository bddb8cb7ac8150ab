"""The paper's event order graphs, as far as its text gives them, and a builder for small ones."""

from itertools import product

from plait.engines.orders.events import CriticalSection, Event, EventStructure, Kind, Link, Order


class Builder:
    """Events by name: "x1" is an access to the cell "x"."""

    def __init__(self):
        self.events = []
        self.number = {}
        self.program_order = []
        self.links = []
        self.orders = []
        self.sections = []
        self.sel = {}
        self._cells = {}
        self._threads = 0
        self._literals = 100

    def thread(self, *accesses, guards=None):
        """Accesses such as "w x1", "r y2" or "- lock", one after the other; the event numbers."""
        numbers = []
        for access in accesses:
            kind, name = access.split()
            cell = None if kind == "-" else self._cells.setdefault(name[0], len(self._cells))
            kind = {"r": Kind.READ, "w": Kind.WRITE, "-": Kind.OTHER}[kind]
            guard = (guards or {}).get(name, 0)
            self.number[name] = len(self.events)
            numbers.append(len(self.events))
            self.events.append(Event(kind, self._threads, cell, guard))
        self._threads += 1
        self.program_order += zip(numbers, numbers[1:])
        return numbers

    def before(self, first, second):
        self.program_order.append((self.number[first], self.number[second]))

    def link(self, write, read, literal=None):
        if literal is None:
            self._literals += 1
            literal = self._literals
        self.sel[read, write] = literal
        self.links.append(Link(self.number[write], self.number[read], literal))

    def order(self, first, second, literal):
        self.orders.append(Order(self.number[first], self.number[second], literal))

    def section(self, first, last, lock, literal=0):
        self.sections.append(CriticalSection(self.number[first], self.number[last], lock, literal))

    def structure(self):
        return EventStructure(
            self.events, self.program_order, self.links, self.orders, self.sections
        )

    def orders_of(self, graph, first, second):
        return graph.is_before(self.number[first], self.number[second])


def figure_2():
    """Fig. 2 (b), with every read-write link that the abstraction allows."""
    built = Builder()
    start = built.thread("w x1", "w y1", "w m1", "w n1")
    one = built.thread("r y2", "w x2", "r y3", "w m2", "w x3")
    two = built.thread("r x4", "w y4", "r x5", "w n2", "w y5")
    end = built.thread("r m3", "r n3")
    for thread in (one, two):
        built.program_order += [(start[-1], thread[0]), (thread[-1], end[0])]
    for write, reads in {
        "x1 x2 x3": "x4 x5",
        "y1 y4 y5": "y2 y3",
        "m1 m2": "m3",
        "n1 n2": "n3",
    }.items():
        for read in reads.split():
            for name in write.split():
                built.link(name, read)
    return built


def butterfly():
    """Fig. 6: six threads, five cells; each wing refutes one order of the accesses to w.

    If w1's read comes before w2, m1 is before m4 and n1 before n4; then m3 is before m2 and n3
    before n2, which is a cycle with the program order of the third and fourth thread. If w2's read
    comes before w1, the same happens to x and y.
    """
    built = Builder()
    built.thread("w w1", "r x4", "r y4", "w m1", "w n1", "r w3")
    built.thread("w w2", "r m4", "r n4", "w x1", "w y1", "r w4")
    for one, two in ("mn", "nm", "xy", "yx"):
        built.thread(f"w {one}2", f"r {two}3")
    built.link("w1", "w3")
    built.link("w2", "w4")
    for cell in "mnxy":
        built.link(f"{cell}1", f"{cell}3")
        built.link(f"{cell}2", f"{cell}4")
    return built


def swarm(count):
    """A butterfly with several bodies: cells that are accessed like w in the butterfly. A wing for
    each combination of their orders refutes it, so that choices have to be made at once."""
    built = Builder()
    names = iter(map(chr, range(ord("A"), ord("A") + count * (1 + 2**count))))
    wings = {sides: [next(names) for _ in sides] for sides in product((1, 2), repeat=count)}
    for number in range(count):
        body = next(names)
        for side in (1, 2):
            mine = [cells[number] for sides, cells in wings.items() if sides[number] == side]
            others = [cells[number] for sides, cells in wings.items() if sides[number] != side]
            reads, writes = [f"r {cell}4" for cell in others], [f"w {cell}1" for cell in mine]
            built.thread(f"w {body}{side}", *reads, *writes, f"r {body}{side + 2}")
            built.link(f"{body}{side}", f"{body}{side + 2}")
    for cells in wings.values():
        for one, two in zip(cells, cells[1:] + cells[:1]):
            built.thread(f"w {one}2", f"r {two}3")
        for cell in cells:
            built.link(f"{cell}1", f"{cell}3")
            built.link(f"{cell}2", f"{cell}4")
    return built
