"""Text of a spec in, what the language server knows about it out, as the page reads it.

Places in a text are counted as JavaScript counts them, in units of UTF-16.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from gnarl_compiler.describe.summary import render_summary
from gnarl_dsl.editing.completion import complete
from gnarl_dsl.editing.document import Document, open_document
from gnarl_dsl.editing.fixes import fixes
from gnarl_dsl.editing.hover import describe
from gnarl_dsl.externs import with_code
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.loading import check_text
from gnarl_dsl.model import Code, Problem
from gnarl_dsl.report.diagnostics import Diagnostic
from gnarl_dsl.report.render import place_of
from gnarl_dsl.report.source import Source, Span
from gnarl_dsl.report.wording import fix_of, message_of, title_of
from gnarl_runtime.play.graphs_asked import families_of
from gnarl_runtime.play.spec_folder import Folder
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.web.replies import Question, Refused

_HEADING = "\x01{}\x02"  # what the page shows in bold
_KEPT = 16  # versions of texts


class SpecText(Question):
    """A spec as it stands in the editor."""

    path: str
    text: str
    params: dict[str, str] = Field(default_factory=dict)


class At(SpecText):
    """A place in it."""

    offset: int


class Within(SpecText):
    """A stretch of it."""

    start: int
    end: int


class Editing:
    """Answers about texts of one folder; the latest are kept, checked."""

    def __init__(self, folder: Folder, code: Code | None = None) -> None:
        self.folder = folder
        self.code = code
        self._open = lru_cache(_KEPT)(self._opened)

    def document(self, asked: SpecText) -> Document:
        return self._open(asked.path, asked.text, tuple(sorted(asked.params.items())))

    def _opened(self, path: str, text: str, params: tuple[tuple[str, str], ...]) -> Document:
        place = self.folder.place(path)
        document = open_document(text, place)
        if params:
            checked = check_text(text, str(place), dict(params), place.parent)
            document = replace(document, checked=checked)
        for source in document.checked.sources[1:]:
            if not self.folder.owns(Path(source.name)):
                raise Refused(f"{path} extends a file outside the folder that is open", 403)
        return document

    def problem(self, asked: SpecText) -> Problem:
        """The checked problem; its mistakes are a refusal, since the page shows them already."""
        checked = self.document(asked).checked
        if checked.problem is None:
            errors = sum(finding.is_error for finding in checked.diagnostics)
            count = "a mistake" if errors == 1 else f"{errors} mistakes"
            raise Refused(f"the spec has {count}; mend what the editor underlines first", 422)
        return with_code(checked.problem, self.code)

    def forget(self) -> None:
        """What has been read of other files may have changed."""
        self._open.cache_clear()

    # What the page asks

    def check(self, asked: SpecText) -> dict[str, Any]:
        """Everything that is wrong, and what the problem is if nothing is."""
        document = self.document(asked)
        problem = document.checked.problem
        return {
            "diagnostics": [_finding(one, document) for one in document.checked.diagnostics],
            "problem": None if problem is None else _described(problem),
            "table": None if problem is None else render_summary(problem, _HEADING.format),
        }

    def fixes(self, asked: Within) -> list[dict[str, Any]]:
        """Edits that mend what was found in a stretch of the text."""
        document = self.document(asked)
        units = Units(document.source.text)
        start, end = units.characters(asked.start), units.characters(asked.end)
        return [
            {
                "title": fix.title,
                "code": fix.finding.code,
                "line": document.source.line_of(fix.finding.span.start) + 1,
                "edits": [{**units.range(edit.span), "text": edit.text} for edit in fix.edits],
            }
            for fix in fixes(document, start, end)
        ]

    def hover(self, asked: At) -> dict[str, Any] | None:
        document = self.document(asked)
        units = Units(document.source.text)
        place = document.place_at(units.characters(asked.offset))
        text = describe(document, place) if place else None
        if place is None or text is None:
            return None
        return {**units.range(place.word.span), "text": text}

    def complete(self, asked: At) -> list[dict[str, str]]:
        """Words that can stand at the cursor, likeliest first."""
        document = self.document(asked)
        offset = Units(document.source.text).characters(asked.offset)
        return [
            {"text": item.text, "sort": item.sort.value, "detail": item.detail, "doc": item.doc}
            for item in complete(document, offset)
        ]

    def format(self, asked: SpecText) -> dict[str, str]:
        """The same in house style; a text with mistakes in its form is a SpecError."""
        return {"text": format_text(asked.text)}


class Units:
    """Offsets into one text, in characters here and in units of UTF-16 on the page."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = text.isascii()

    def characters(self, units: int) -> int:
        if self.plain:
            return max(0, min(units, len(self.text)))
        ahead = self.text.encode("utf-16-le", "surrogatepass")[: 2 * max(0, units)]
        return len(ahead.decode("utf-16-le", "ignore"))

    def units(self, offset: int) -> int:
        if self.plain:
            return offset
        return len(self.text[:offset].encode("utf-16-le", "surrogatepass")) // 2

    def range(self, span: Span) -> dict[str, int]:
        return {"start": self.units(span.start), "end": self.units(span.end)}


def _finding(finding: Diagnostic, document: Document) -> dict[str, Any]:
    """A diagnostic; one in a file that this one extends is shown at its start, with its place."""
    source, sources = document.source, document.checked.sources
    own = finding.span.file == 0
    span = finding.span if own else _first_line(source)
    where = "" if own else f"{place_of(finding.span, sources)}: "
    return {
        **Units(source.text).range(_visible(source, span)),
        "line": source.line_of(min(span.start, len(source.text))) + 1,
        "code": finding.code,
        "error": finding.is_error,
        "title": title_of(finding),
        "message": f"{where}{message_of(finding)}",
        "fix": fix_of(finding),
        "example": finding.example or "",
        "notes": [
            f"{place_of(note.span, sources) if note.span.file else _line(source, note.span)}: "
            f"{note.text}"
            for note in finding.notes
        ],
    }


def _first_line(source: Source) -> Span:
    return Span(0, len(source.line_text(0)))


def _line(source: Source, span: Span) -> str:
    return f"line {source.line_of(span.start) + 1}"


def _visible(source: Source, span: Span) -> Span:
    """At least a character wide, within the text."""
    end = max(span.end, span.start + 1)
    return Span(min(span.start, max(0, len(source.text) - 1)), min(end, len(source.text)))


def _described(problem: Problem) -> dict[str, Any]:
    """What the other panels ask about a problem."""
    free = free_experts(problem)
    return {
        "name": problem.name,
        "doc": problem.doc,
        "hash": problem.hash,
        "directed": problem.graph.directed,
        "phases": [{"name": phase.name, "variable": phase.variable} for phase in problem.phases],
        "mayStop": problem.may_stop,
        "experts": [
            {"name": expert.name, "free": expert.name in free} for expert in problem.experts
        ],
        "objectives": [entry.name for entry in problem.objectives],
        "rewards": [entry.name for entry in problem.rewards],
        "families": [{"name": own.name, "label": own.label} for own in families_of(problem)],
        "params": [
            {"name": param.name, "value": str(param.value), "choices": list(param.choices)}
            for param in problem.params
        ],
        "externs": [declared.name for declared in problem.externs],
        "deployable": problem.deployable,
    }
