"""The text of a spec goes in, what its comments waive for which line comes out.

    d[v] := d[u] + 1   # waives idle: the loop is unrolled

A comment behind a line speaks for that line, one on a line of its own for the next. It is the
author's word and stays in the text wherever that goes; nothing but a check looks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import Source
from gnarl_dsl.syntax.scan import scan

_WAIVER = re.compile(r"#\s*waives\s+(?P<names>[a-z-]+(?:\s*,\s*[a-z-]+)*)\s*(?::\s*(?P<why>.*))?$")


@dataclass(frozen=True)
class Waiver:
    """A property that is waived for a line, 1-based, and why."""

    file: int
    line: int
    property: str
    reason: str


def waivers_in(source: Source, file: int = 0) -> Iterator[Waiver]:
    """All of one file, line by line."""
    scanned = scan(source, file, Collector())
    starts = [source.line_of(line.words[0].span.start) for line in scanned.lines]
    for comment in scanned.comments:
        found = _WAIVER.match(comment.text.rstrip())
        if found is None:
            continue
        here = source.line_of(comment.span.start)
        line = next((start for start in starts if start > here), here) if comment.own_line else here
        for name in re.split(r"\s*,\s*", found["names"]):
            yield Waiver(file, line + 1, name, (found["why"] or "").strip())
