"""The variables of templates: which ones threads share, which are an instance's own, and which
hold numbers of threads."""

from __future__ import annotations

from plait.engines.context.ghosts import COUNTER, GHOST, PLACE
from plait.engines.context.kinship import Kinship
from plait.engines.context.templates import Instance, Template, Templates
from plait.logic.operators import ITE, SLT
from plait.logic.substitute import Substitution, Vocabulary
from plait.logic.terms import Terms

_MOST_FLAG_VALUES = 3


class Variables:
    """`shared` are those that more than one template's formulas may mention: cells of static
    objects and ghosts. `myself` stands for the number of the thread that a formula is about."""

    def __init__(self, templates: Templates, terms: Terms) -> None:
        self._templates = templates
        self._terms = terms
        self.vocabulary = Vocabulary(terms)
        self.myself = terms.variable("own number", 32)
        self.shared: dict[int, None] = {}
        self.kinship = Kinship(templates, terms)
        self.signed: set[int] = set()
        self._instantiations: dict[int, Substitution] = {}
        for template in templates.all:
            self._collect(template.one)
        relevant = self._find_relevant()
        self.shared = {
            item: None for item in self.shared if item in relevant or self.is_ghost(terms, item)
        }
        self.counters = {item for item in self.shared if terms.name[item].startswith(COUNTER)}
        for item in self.counters:
            self.kinship.add_counter(item)
        self.places = frozenset(item for item in self.shared if terms.name[item].startswith(PLACE))
        self.thread_numbers = {*templates.numbers(), *templates.identities()}
        self.numbers = self._find_numbers()
        self.flags = self._find_flags()
        self.live = [self._find_live(template) for template in templates.all]

    def is_shared(self, variable: int) -> bool:
        return self.is_ghost(self._terms, variable) or self._templates.is_shared(variable)

    def is_address(self, value: int, width: int) -> bool:
        return self._templates.is_address(value, width)

    @staticmethod
    def is_ghost(terms: Terms, variable: int) -> bool:
        return terms.name[variable].startswith(GHOST)

    def of(self, instance: Instance, template: Template) -> Substitution:
        """Puts an instance in the place of the one that a template's formulas are about."""
        found = self._instantiations.get(instance.number)
        if found is None:
            terms, number = self._terms, instance.number
            one = template.one.number

            def get(variable: int) -> int | None:
                if variable == self.myself:
                    return terms.constant(number, 32)
                if one == number:
                    return None
                return self._templates.of_other_thread(variable, one, number)

            found = self._instantiations[number] = Substitution(terms, get)
        return found

    # --- what formulas mention

    def _collect(self, instance: Instance) -> None:
        terms = self._terms
        roots: set[int] = set()
        for item in instance.transitions:
            roots.update(item.step.assumes)
            roots.update(item.step.updates.values())
            roots.update(item.step.updates)
            for begun in item.begins:
                roots.update(begun.values.values())
        for term in terms.parts(roots):
            if terms.operator[term] == SLT:
                self.signed.add(terms.width[terms.operands[term][0]])
        for term in roots:
            for variable in self.vocabulary(term):
                if self.is_shared(variable):
                    self.shared[variable] = None

    def _find_relevant(self) -> set[int]:
        """The variables on whose values it may depend what threads do. About others nothing needs
        to be known."""
        sources: dict[int, set[int]] = {}
        pending: set[int] = set()
        for template in self._templates.all:
            for item in template.one.transitions:
                pending |= self.vocabulary.of(item.step.assumes)
                values = [item.step.updates, *(begun.values for begun in item.begins)]
                for updates in values:
                    for variable, term in updates.items():
                        sources.setdefault(variable, set()).update(self.vocabulary(term))
        found: set[int] = set()
        while pending:
            variable = pending.pop()
            if variable not in found:
                found.add(variable)
                pending |= sources.get(variable, set()) - found
        return found

    def _find_numbers(self) -> frozenset[int]:
        """Variables that may hold the number or the identity of a thread of which there may be
        many: what is true of the numbers here need not be true of others, beyond that they are the
        same or not."""
        terms = self._terms
        found: set[int] = set()
        numbers = self.thread_numbers
        changed = True
        while changed:
            changed = False
            for template in self._templates.all:
                for item in template.one.transitions:
                    for variable, term in item.step.updates.items():
                        if variable not in found and any(
                            part in found or terms.value(part) in numbers
                            for part in terms.parts((term,))
                        ):
                            found.add(variable)
                            changed = True
        return frozenset(found)

    def _find_flags(self) -> dict[int, list[int]]:
        """Variables that only ever get a few constants, with these."""
        terms = self._terms
        values: dict[int, set[int]] = {}
        others: set[int] = set()
        for template in self._templates.all:
            for item in template.one.transitions:
                for variable, term in item.step.updates.items():
                    found = _choices(terms, term, variable)
                    if found is None:
                        others.add(variable)
                    else:
                        values.setdefault(variable, set()).update(found)
        flags = {
            variable: sorted(found | {0})
            for variable, found in values.items()
            if variable not in others
            and variable not in self.numbers | self.places
            and len(found) <= _MOST_FLAG_VALUES
        }
        return flags | {variable: [0] for variable in self.numbers}  # of locks: that they are free

    def _find_live(self, template: Template) -> list[set[int]]:
        """The instance's own variables that matter at each place."""
        instance = template.one
        live: list[set[int]] = [set() for _ in instance.places]
        changed = True
        while changed:
            changed = False
            for item in reversed(instance.transitions):
                needed = set(self.vocabulary.of(item.step.assumes))
                for shared, term in item.step.updates.items():
                    if shared in self.shared:
                        needed |= self.vocabulary(term)
                if item.target is not None:
                    for variable in live[item.target]:
                        new = item.step.updates.get(variable, variable)
                        needed |= self.vocabulary(new)
                needed = {
                    variable
                    for variable in needed - item.step.inputs
                    if self._templates.is_own(variable, template)
                }
                if not needed <= live[item.source]:
                    live[item.source] |= needed
                    changed = True
        return live


def _choices(terms: Terms, term: int, variable: int) -> set[int] | None:
    """The constants that a choice is between, beside the variable itself; None for other terms."""
    found: set[int] = set()
    pending = [term]
    while pending:
        item = pending.pop()
        value = terms.value(item)
        if value is not None:
            found.add(value)
        elif terms.operator[item] == ITE:
            pending += terms.operands[item][1:]
        elif item != variable:
            return None
    return found
