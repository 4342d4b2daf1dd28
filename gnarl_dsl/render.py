"""Diagnostics in, text for people or JSON-ready values for tools out."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill, indent
from typing import TypedDict

from gnarl_dsl.diagnostics import Diagnostic, Note
from gnarl_dsl.source import Source, Span
from gnarl_dsl.wording import fix_of, message_of, title_of

_WIDTH = 88
_MAX_LINE = 160


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
    range: LspRange


def render_all(findings: Sequence[Diagnostic], sources: Sequence[Source]) -> str:
    return "\n".join(render(finding, sources) for finding in findings)


def render(finding: Diagnostic, sources: Sequence[Source]) -> str:
    """Headline with place, the line with a caret, the message, notes and the likely fix."""
    kind = "error" if finding.is_error else "warning"
    where = place_of(finding.span, sources)
    lines = [f"{where}: {kind} {finding.code}: {title_of(finding)}"]
    lines += _excerpt(finding.span, sources)
    lines.append(indent(fill(message_of(finding), _WIDTH), "  "))
    for note in finding.notes:
        lines += _note(note, sources)
    if "example" in finding.values and finding.code == "GN006":
        lines.append("  It should look like this:")
        lines.append(indent(finding.values["example"], "      "))
    fix = fix_of(finding)
    if fix:
        lines.append(indent(fix, "  "))
    return "\n".join(lines) + "\n"


def place_of(span: Span, sources: Sequence[Source]) -> str:
    source = sources[span.file]
    line, column = source.line_of(span.start), source.column_of(span.start)
    return f"{source.name}:{line + 1}:{column + 1}"


def _note(note: Note, sources: Sequence[Source]) -> list[str]:
    line = sources[note.span.file].line_of(note.span.start) + 1
    return [f"  Note, line {line}: {note.text}.", *_excerpt(note.span, sources)]


def _excerpt(span: Span, sources: Sequence[Source]) -> list[str]:
    """The line of the spec with a caret under the span, cut to a readable width."""
    source = sources[span.file]
    line = source.line_of(span.start)
    text = source.line_text(line).replace("\t", " ")
    if not text.strip():
        return []
    start = source.column_of(span.start)
    end = min(start + max(1, span.end - span.start), max(len(text), start + 1))
    shift = max(0, start - _MAX_LINE // 2) if len(text) > _MAX_LINE else 0
    number = str(line + 1)
    shown = text[shift : shift + _MAX_LINE]
    carets = "^" * max(1, min(end - start, _MAX_LINE - (start - shift)))
    gutter = " " * len(number)
    return [f"  {number} | {shown}", f"  {gutter} | {' ' * (start - shift)}{carets}"]


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
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
    }
