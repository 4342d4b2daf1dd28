"""Mistakes as data: a `Diagnostic` is a code, a place and the values its wording needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gnarl_dsl.source import Source, Span


@dataclass(frozen=True)
class Note:
    """A second place that belongs to the mistake, and what happens there."""

    span: Span
    text: str


@dataclass(frozen=True)
class Diagnostic:
    """One finding. `values` fill the wording of `code`; `fix` is a likely remedy."""

    code: str
    span: Span
    values: Mapping[str, str] = field(default_factory=dict)
    fix: str | None = None
    notes: tuple[Note, ...] = ()

    @property
    def is_error(self) -> bool:
        return not self.code.startswith("GN9")


class SpecError(Exception):
    """A spec that cannot be used, with everything found in it."""

    def __init__(self, diagnostics: Sequence[Diagnostic], sources: Sequence[Source]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = tuple(sources)
        super().__init__(self._text())

    def _text(self) -> str:
        from gnarl_dsl.render import render_all

        return render_all(self.diagnostics, self.sources)


class InternalError(Exception):
    """A mistake of GNARL itself, never of its user."""

    def __init__(self, what: str) -> None:
        super().__init__(f"internal error: {what}. This is a bug in GNARL; please report it.")


class Collector:
    """Gathers diagnostics during one pass over one spec."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._seen: set[tuple[str, Span]] = set()

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.sorted())

    def add(
        self,
        code: str,
        span: Span,
        *,
        fix: str | None = None,
        notes: Sequence[Note] = (),
        **values: object,
    ) -> None:
        """Record a finding once per code and place."""
        if (code, span) in self._seen:
            return
        self._seen.add((code, span))
        texts = {key: str(value) for key, value in values.items()}
        self._found.append(Diagnostic(code, span, texts, fix, tuple(notes)))

    def has_errors(self) -> bool:
        return any(finding.is_error for finding in self._found)

    def sorted(self) -> list[Diagnostic]:
        """In the order of the text; the file itself before the files it extends."""
        return sorted(self._found, key=lambda d: (d.span.file, d.span.start, d.code))
