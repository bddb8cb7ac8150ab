"""Which unset value is which (see model.unset), for who has values for them: a replay."""

from __future__ import annotations

from plait.model.program import Program
from plait.model.unset import Maker, Unset, of_static


class UnsetNames:
    """Counts what a machine makes. Like its memory, it can go back to the last commit."""

    def __init__(self, program: Program) -> None:
        self._of_page = {item.page: of_static(item) for item in program.objects}
        self._counts: dict[tuple[int, Maker], int] = {}
        self._pages_before: dict[int, Unset | None] = {}
        self._counts_before: dict[tuple[int, Maker], int] = {}

    def new(self, thread: int, maker: Maker) -> Unset:
        key = thread, maker
        number = self._counts.get(key, 0)
        self._counts_before.setdefault(key, number)
        self._counts[key] = number + 1
        return Unset(thread, maker, number)

    def new_object(self, page: int, thread: int, maker: Maker) -> None:
        self._pages_before.setdefault(page, self._of_page.get(page))
        self._of_page[page] = self.new(thread, maker)

    def at(self, page: int) -> Unset | None:
        """The object that begins at a page."""
        return self._of_page.get(page)

    def commit(self) -> None:
        self._pages_before.clear()
        self._counts_before.clear()

    def take_back(self) -> None:
        for page, unset in self._pages_before.items():
            if unset is None:
                del self._of_page[page]
            else:
                self._of_page[page] = unset
        self._counts.update(self._counts_before)
        self.commit()
