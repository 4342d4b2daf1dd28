"""A place in a document in, every word that means the same thing out, and edits that rename it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gnarl_dsl.editing.document import Document, Place, open_document
from gnarl_dsl.editing.fixes import Edit, applied
from gnarl_dsl.editing.hover import about_special
from gnarl_dsl.report.render import place_of
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.wording import message_of


class CannotRename(Exception):
    """Why a name stays as it is, in a sentence for whoever asked."""


@dataclass(frozen=True)
class Target:
    """What a word means: where that is declared, in which file, and what it is called there."""

    file: str
    span: Span
    name: str

    def is_at(self, document: Document, span: Span) -> bool:
        """Whether that is the declaration."""
        return document.source.name == self.file and span[:2] == self.span[:2]


def target_of(document: Document, place: Place) -> Target | None:
    """The declaration of a variable, feature, let, param, phase, expert, … that a word names."""
    span = None if about_special(place) else document.definition(place)
    if span is None or span.end <= span.start:  # nothing, or the file that is extended
        return None
    source = document.checked.sources[span.file]
    name = source.text[span.start : span.end]
    return Target(source.name, span, name) if name == place.word.text else None


def references(document: Document, target: Target) -> list[Span]:
    """Every word of a document that means this, its declaration among them."""
    found = {
        place.word.span
        for place in _places(document, target.name)
        if _same(target_of(document, place), target)
    }
    return sorted(found)


def _same(found: Target | None, target: Target) -> bool:
    return (
        found is not None
        and found.file == target.file
        and (found.span.start, found.span.end) == (target.span.start, target.span.end)
    )


def _places(document: Document, name: str) -> Iterator[Place]:
    for block in document.blocks:
        for line in block.lines:
            for index, word in enumerate(line.words):
                if word.kind == "name" and word.text == name:
                    yield Place(word, block, line, index)


def rename(
    document: Document, place: Place, name: str, others: Iterable[Document] = ()
) -> Mapping[str, list[Edit]]:
    """The edits of each file, by its name; `others` are files that may extend this one.

    What the checker would refuse is not done: a name that is taken, or a word of the language.
    """
    target = target_of(document, place)
    if target is None:
        raise CannotRename(f"`{place.word.text}` is declared nowhere in this spec")
    if target.span.file != 0:
        where = place_of(target.span, document.checked.sources)
        raise CannotRename(f"`{target.name}` is declared in {where}; rename it there")
    found: dict[str, list[Edit]] = {}
    for own in (document, *others):
        edits = [Edit(span, name) for span in references(own, target)]
        if edits:
            found[own.source.name] = edits
    _verify(document, target, found[document.source.name])
    return found


def _verify(document: Document, target: Target, edits: list[Edit]) -> None:
    """Raise CannotRename if there is a new mistake afterwards, or a word means something else."""
    before = [finding.code for finding in document.checked.diagnostics if finding.is_error]
    text = applied(document.source.text, edits)
    after = open_document(text, document.path, document.opened)
    for finding in after.checked.diagnostics:
        if finding.is_error and finding.code not in before:
            raise CannotRename(message_of(finding))
    name, moved = edits[0].text, _moved(edits)
    declared = moved[[edit.span for edit in edits].index(target.span)]
    if references(after, Target(target.file, declared, name)) != moved:
        raise CannotRename(f"`{name}` means something else where `{target.name}` stands")


def _moved(edits: list[Edit]) -> list[Span]:
    """Where the new words stand."""
    found, shift = [], 0
    for edit in edits:
        start = edit.span.start + shift
        found.append(Span(start, start + len(edit.text)))
        shift += len(edit.text) - (edit.span.end - edit.span.start)
    return found
