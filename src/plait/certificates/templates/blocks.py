"""Objects that threads share although they were allocated: each in the step that starts the one
thread of some template. They have pages of their own, so that nothing else is taken for one.
"""

from __future__ import annotations

from plait.certificates.templates.document import TemplateCertificate
from plait.certificates.verdicts import Rejected
from plait.certificates.world import World


def shared_blocks(certificate: TemplateCertificate) -> dict[int, tuple[int, str]]:
    """Their sizes and storages, by their pages; all places have to agree."""
    found: dict[int, tuple[int, str]] = {}
    for template in certificate.templates:
        for place in template.places:
            for page, item in place.heap.items():
                if page in certificate.blocks and found.setdefault(page, item) != item:
                    raise Rejected(f"the block at page {page} is not the same at all places")
    for page in certificate.blocks:
        if page not in found:
            raise Rejected(f"no place has the block at page {page}")
    return found


def check_blocks(world: World, certificate: TemplateCertificate) -> None:
    """They are where their creators allocate objects, and nothing else is there."""
    space = world.space
    for owner in certificate.blocks.values():
        if owner >= len(certificate.templates) or certificate.templates[owner].is_multiple:
            raise Rejected("a shared block belongs to a template of which there is one thread")
    taken = []
    for page, (size, _) in shared_blocks(certificate).items():
        end = page + world.pages_taken(size)
        creators = [
            item
            for item in certificate.templates
            if space.heap_start(item.number) <= page < end <= space.arena(item.number)[1]
        ]
        if not creators:
            raise Rejected(f"the block at page {page} is nowhere")
        if any(end > place.thread.stack_page for item in creators for place in item.places):
            raise Rejected(f"the block at page {page} is where a stack is")
        taken.append((page, end))
    taken.sort()
    if any(one[1] > other[0] for one, other in zip(taken, taken[1:], strict=False)):
        raise Rejected("two shared blocks overlap")
    for template in certificate.templates:
        for place in template.places:
            for page, (size, _) in place.heap.items():
                end = page + world.pages_taken(size)
                if page not in certificate.blocks and any(
                    page < last and first < end for first, last in taken
                ):
                    raise Rejected(f"the object at page {page} is where a shared block is")
