"""A Report in, Markdown out: for the appendix of a paper, or a note beside the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gnarl_runtime.reports.contents import Report, Sheet


def markdown_of(report: Report, curves: Path | None = None) -> str:
    """Everything but the episodes; `curves` is the picture of the run, if it has one."""
    return "\n\n".join(part for part in _parts(report, curves) if part) + "\n"


def _parts(report: Report, curves: Path | None) -> Iterator[str]:
    yield f"# {report.title}"
    yield report.doc
    yield "## What was trained"
    yield _table(report.facts)
    yield _items(report.verdict)
    yield f"![Loss and validation of the run]({curves.as_posix()})" if curves else ""
    yield "## How good it is"
    yield _table(report.results)
    if report.searches:
        yield "## What a search adds"
        yield _table(report.searches)
    yield "## Where it fails"
    yield report.told
    yield _table(report.failures) if report.failures else ""
    yield "## The spec"
    yield "\n\n".join(f"```gnarl\n{text.rstrip()}\n```" for _, text in report.specs)
    yield "## The recipe"
    yield f"```json\n{report.recipe.rstrip()}\n```"
    left = f"Left out for lack of time: {', '.join(report.left_out)}. " if report.left_out else ""
    yield f"{left}{report.made}"
    yield f"```text\n{report.command}\n```"


def _table(sheet: Sheet) -> str:
    marks = ["---" if k < sheet.words else "---:" for k in range(len(sheet.head))]
    rows = [sheet.head, tuple(marks), *sheet.rows]
    lines = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join(lines) + (f"\n\n{_items(sheet.notes)}" if sheet.notes else "")


def _items(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines)
