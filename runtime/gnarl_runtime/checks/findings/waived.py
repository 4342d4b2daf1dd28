"""A problem's comments and findings go in; out: which of these its author has waived, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from gnarl_dsl.model import Problem
from gnarl_dsl.report.source import Source, Span
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax.waivers import Waiver, waivers_in
from gnarl_runtime.checks.findings.findings import Failure, Lint, Property

Key = tuple[str, str | None, Waiver | None]


@dataclass(frozen=True)
class Waivers:
    """What the comments of a spec waive, by the place of a finding."""

    problem: Problem

    @cached_property
    def all(self) -> tuple[Waiver, ...]:
        return tuple(
            waiver
            for file, source in enumerate(self.problem.sources)
            for waiver in waivers_in(Source(source.name, source.text), file)
        )

    def of(self, broken: str, span: Span | None) -> Waiver | None:
        """Who waives a property there; what has no place is waived where the problem is named."""
        fitting = [waiver for waiver in self.all if waiver.property == broken]
        if not fitting:
            return None
        file, first, last = self._lines(span)
        places = (w for w in fitting if w.file == file and first <= w.line <= last)
        return next(places, None)

    def key(self, broken: str, expert: str | None, span: Span | None) -> Key:
        """What is told once: a waived finding is another one than one that is not."""
        return broken, expert, self.of(broken, span)

    def split(
        self, failures: tuple[Failure, ...]
    ) -> tuple[tuple[Failure, ...], tuple[tuple[Failure, Waiver], ...]]:
        """Those that count, and those that are waived."""
        both = [(failure, self.of(failure.property, failure.span)) for failure in failures]
        counted = tuple(failure for failure, waiver in both if waiver is None)
        return counted, tuple((failure, waiver) for failure, waiver in both if waiver is not None)

    def _lines(self, span: Span | None) -> tuple[int, int, int]:
        if span is None:
            return 0, self._head, self._head
        text = self.problem.sources[span.file].text
        first = self.problem.line_of(span)
        return span.file, first, first + text.count("\n", span.start, max(span.start, span.end))

    @cached_property
    def _head(self) -> int:
        """The line that names the problem."""
        lines = self.problem.sources[0].text.splitlines() if self.problem.sources else []
        heads = (k for k, line in enumerate(lines, start=1) if line.split()[:1] == ["problem"])
        return next(heads, 1)

    # What is wrong with waivers themselves

    def unknown(self) -> Iterator[Lint]:
        """Words that are no property."""
        for waiver in self._own:
            if waiver.property not in get_args(Property):
                hint = did_you_mean(waiver.property, get_args(Property)) or ""
                what = f"line {waiver.line} waives `{waiver.property}`, which is no property"
                yield Lint("unknown-waiver", f"{what}. {hint}".rstrip(". ").rstrip())

    def in_vain(self, used: tuple[Waiver, ...]) -> Iterator[Lint]:
        """Waivers that nothing needs."""
        for waiver in self._own:
            if waiver not in used and waiver.property in get_args(Property):
                what = f"line {waiver.line} waives `{waiver.property}`, which nothing breaks there"
                yield Lint("needless-waiver", what)

    @property
    def _own(self) -> Iterator[Waiver]:
        """What is inherited is another file's business."""
        return (waiver for waiver in self.all if waiver.file == 0)
