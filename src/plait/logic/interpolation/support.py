"""Labels made stronger so that they imply what a procedure took for granted.

Integers do not wrap, vectors do. A procedure that reasons about integers says at which places
which sums must not wrap; if a label there does not already imply that, the path to that place has
to explain it, and that explanation is added to the labels on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Sequence, Step
from plait.logic.interpolation.problem import Context, Failed, Path, Slice
from plait.logic.interpolation.slicing import slice_or_model
from plait.logic.interpolation.strongest import Strongest
from plait.logic.interpolation.weakest import Weakest

# More conditions than this that no label implies, and we give up.
_EXPLANATIONS = 24


class Support:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._procedures = (Weakest(context), Strongest(context))

    def supported(
        self, slice_: Slice, labels: Sequence, conditions: Mapping[int, Iterable[int]]
    ) -> Sequence:
        """The labels, and whatever makes the conditions of each place of the path true there."""
        result = [list(label) for label in labels]
        explained = 0
        for place in sorted(conditions):
            for condition in sorted(conditions[place]):
                facts = [*result[place], *slice_.path.assumes[place]]
                if condition in facts or self._context.queries.follows(condition, facts):
                    continue
                explained += 1
                if explained > _EXPLANATIONS:
                    raise Failed("too many sums that may wrap")
                for label, reason in zip(result, self._explanation(slice_, place, condition)):
                    label += reason
        return tuple(tuple(dict.fromkeys(label)) for label in result)

    def _explanation(self, slice_: Slice, place: int, condition: int) -> Sequence:
        """Labels up to a place such that the condition holds there, under the assumptions of the
        step behind it."""
        step = slice_.path.steps[place]
        refuted = self._context.terms.not_(condition)
        last = Step((*step.assumes, refuted), {}, step.inputs)
        path = Path(self._context, (*slice_.path.steps[:place], last))
        found = slice_or_model(self._context, path)
        if isinstance(found, Model):
            raise Failed("a sum may wrap")
        for procedure in self._procedures:
            try:
                return procedure(found)[: place + 1]
            except Failed:
                continue
        raise Failed("that a sum cannot wrap is not explained")
