"""Mistakes as data: a `Diagnostic` is a code, a place and the values its wording needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from gnarl_dsl.report.failures import GnarlError
from gnarl_dsl.report.source import Source, Span

# Nobody mends more than this before looking again, and a hostile file can't make us slow.
MAX_ERRORS = 100
ENOUGH = "GN023"
# Warnings that can be mere consequences of an error: the use or the guard was not read.
_CONSEQUENCES = frozenset({"GN901", "GN904", "GN906", "GN907"})


@dataclass(frozen=True)
class Note:
    """A second place that belongs to the mistake, and what happens there."""

    span: Span
    text: str


@dataclass(frozen=True)
class Diagnostic:
    """One finding. `values` fill the wording of `code`; `fix` is a likely remedy.

    `example` is a piece of spec, one or more lines, that shows the right form.
    """

    code: str
    span: Span
    values: Mapping[str, str] = field(default_factory=dict)
    fix: str | None = None
    notes: tuple[Note, ...] = ()
    example: str | None = None

    @property
    def is_error(self) -> bool:
        return not self.code.startswith("GN9")

    @property
    def message(self) -> str:
        """What is wrong, in a sentence or two."""
        from gnarl_dsl.report.wording import message_of

        return message_of(self)


class SpecError(GnarlError):
    """A spec that cannot be used, with everything found in it."""

    def __init__(self, diagnostics: Sequence[Diagnostic], sources: Sequence[Source]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = tuple(sources)
        super().__init__(self._text())

    def _text(self) -> str:
        from gnarl_dsl.report.render import render_all

        return render_all(self.diagnostics, self.sources)


class InternalError(Exception):
    """A mistake of GNARL itself, never of its user."""

    def __init__(self, what: str) -> None:
        super().__init__(f"internal error: {what}. This is a bug in GNARL; please report it.")


class EnoughErrors(Exception):
    """Ends a check that has found `MAX_ERRORS` errors; the findings are in the collector."""


# Codes that can apply to one place several times: each missing part is a finding of its own.
_SEVERAL = frozenset({"GN102"})


class Collector:
    """Gathers diagnostics during one pass over one spec."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._seen: set[tuple[str, Span, tuple[str, ...]]] = set()
        self._errors = self._warnings = 0

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.sorted())

    def add(
        self,
        code: str,
        span: Span,
        *,
        fix: str | None = None,
        notes: Sequence[Note] = (),
        example: str | None = None,
        **values: object,
    ) -> None:
        """Record a finding once per code, place and values."""
        texts = {key: str(value) for key, value in values.items()}
        seen = (code, span, tuple(texts.values()) if code in _SEVERAL else ())
        if seen in self._seen:
            return
        self._seen.add(seen)
        self._keep(Diagnostic(code, span, texts, fix, tuple(notes), example))

    def _keep(self, finding: Diagnostic) -> None:
        if not finding.is_error:
            self._warnings += 1
            if self._warnings <= MAX_ERRORS:
                self._found.append(finding)
            return
        if self._errors < MAX_ERRORS:
            self._errors += 1
            self._found.append(finding)
        if self._errors == MAX_ERRORS:
            self._seen_enough(finding.span)

    def _seen_enough(self, span: Span) -> NoReturn:
        if self._found[-1].code != ENOUGH:
            self._found.append(Diagnostic(ENOUGH, span, {"limit": str(MAX_ERRORS)}))
        raise EnoughErrors

    @property
    def error_count(self) -> int:
        return self._errors

    def has_errors(self) -> bool:
        return self._errors > 0

    def sorted(self) -> list[Diagnostic]:
        """In the order of the text; the file itself before the files it extends."""
        kept = [finding for finding in self._found if self._matters(finding)]
        return sorted(kept, key=lambda d: (d.code == ENOUGH, d.span.file, d.span.start, d.code))

    def _matters(self, finding: Diagnostic) -> bool:
        """Errors do; a warning about an extended file is that file's own business."""
        if finding.is_error:
            return True
        return finding.span.file == 0 and not (self.has_errors() and finding.code in _CONSEQUENCES)
