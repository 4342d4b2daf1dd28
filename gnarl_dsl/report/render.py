"""Diagnostics in, text for people or JSON-ready values for tools out."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill, indent
from typing import TypedDict
from unicodedata import combining, east_asian_width

from gnarl_dsl.report.diagnostics import Diagnostic, Note
from gnarl_dsl.report.printable import printable
from gnarl_dsl.report.source import Source, Span
from gnarl_dsl.report.wording import fix_of, message_of, title_of

_WIDTH = 88
_MAX_LINE = 120


class LspPosition(TypedDict):
    line: int
    character: int


class LspRange(TypedDict):
    start: LspPosition
    end: LspPosition


class DiagnosticRecord(TypedDict):
    """One finding as tools read it; positions are 0-based, characters counted in UTF-16."""

    file: str
    code: str
    severity: str
    title: str
    message: str
    fix: str
    example: str
    range: LspRange


def render_all(findings: Sequence[Diagnostic], sources: Sequence[Source]) -> str:
    return "\n".join(render(finding, sources) for finding in findings)


def render(finding: Diagnostic, sources: Sequence[Source]) -> str:
    """Headline with place, the line with a caret, the message, notes and the likely fix."""
    kind = "error" if finding.is_error else "warning"
    where = place_of(finding.span, sources)
    lines = [f"{where}: {kind} {finding.code}: {title_of(finding)}"]
    lines += _excerpt(finding.span, sources)
    lines.append(_paragraph(message_of(finding)))
    for note in finding.notes:
        lines += _note(note, finding, sources)
    fix = fix_of(finding)
    if fix:
        lines.append(_paragraph(fix))
    if finding.example:
        lines += ["  For example:", indent(finding.example, "      ")]
    return "\n".join(lines) + "\n"


def place_of(span: Span, sources: Sequence[Source]) -> str:
    source = sources[span.file]
    line, column = source.line_of(span.start), source.column_of(span.start)
    return f"{printable(source.name)}:{line + 1}:{column + 1}"


def _paragraph(text: str) -> str:
    wrapped = fill(printable(text), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return indent(wrapped, "  ")


def _note(note: Note, finding: Diagnostic, sources: Sequence[Source]) -> list[str]:
    line = sources[note.span.file].line_of(note.span.start) + 1
    other_file = note.span.file != finding.span.file
    where = place_of(note.span, sources) if other_file else f"line {line}"
    return [f"  Note, {where}: {note.text}.", *_excerpt(note.span, sources)]


def _excerpt(span: Span, sources: Sequence[Source]) -> list[str]:
    """The line of the spec with a caret under the span, cut to a readable width."""
    source = sources[span.file]
    line = source.line_of(span.start)
    raw = source.line_text(line)
    if not raw.strip():
        return []
    start = source.column_of(span.start)
    end = max(start + 1, min(start + span.end - span.start, len(raw.rstrip())))
    first, last = _window(len(raw), start)
    text = printable(raw[first:last].replace("\t", " "))
    before, under = text[: start - first], text[start - first : end - first]
    dots = "…" if first else ""
    shown = f"{dots}{text}{'…' if last < len(raw) else ''}"
    pad = " " * _columns(dots + before)
    carets = "^" * max(1, _columns(under))
    gutter = " " * len(str(line + 1))
    return [f"  {line + 1} | {shown.rstrip()}", f"  {gutter} | {pad}{carets}"]


def _window(length: int, start: int) -> tuple[int, int]:
    """Which characters of a long line to show: where the span starts, with some text before."""
    near = length <= _MAX_LINE or start < _MAX_LINE * 3 // 4
    first = 0 if near else start - _MAX_LINE // 4
    return first, min(length, first + _MAX_LINE)


def _columns(text: str) -> int:
    """Terminal columns: two for wide characters, none for combining ones."""
    return sum(
        0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )


def to_record(finding: Diagnostic, sources: Sequence[Source]) -> DiagnosticRecord:
    source = sources[finding.span.file]
    start = source.position(finding.span.start)
    end = source.position(min(finding.span.end, len(source.text)))
    return {
        "file": source.name,
        "code": finding.code,
        "severity": "error" if finding.is_error else "warning",
        "title": title_of(finding),
        "message": message_of(finding),
        "fix": fix_of(finding),
        "example": finding.example or "",
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
    }
