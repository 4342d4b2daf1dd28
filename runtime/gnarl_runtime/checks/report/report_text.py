"""A report goes in, the text that `gnarl-check` prints comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from gnarl_runtime.checks.findings.findings import ExpertSummary, Failure, Lint, Report, SizeSummary
from gnarl_runtime.checks.findings.wishes import Options

WIDTH = 96


def report_text(report: Report, options: Options) -> str:
    """Sizes, experts, random play, lints, failures, and one line that sums it up."""
    problem = report.problem
    parts = [
        [f"{problem.name}: {problem.doc}" if problem.doc else problem.name],
        _sizes(report.sizes),
        _experts(report.experts),
        _examples(report, options),
        _lints(report),
        _waived(report),
        *(_failure(report, failure) for failure in report.failures),
        [_verdict(report)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


# Tables


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], words: frozenset[int]
) -> list[str]:
    """Aligned columns; numbers to the right, columns of words to the left."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
    return [
        ("  " + "  ".join(_cell(row[k], widths[k], k in words) for k in range(len(row)))).rstrip()
        for row in (header, *rows)
    ]


def _cell(text: str, width: int, word: bool) -> str:
    return text.ljust(width) if word else text.rjust(width)


def _sizes(sizes: Sequence[SizeSummary]) -> list[str]:
    header = ("nodes", "graphs", "instances", "states", "transitions", "winnable", "explored")
    rows = [
        (
            str(size.nodes),
            f"{size.graphs:,}",
            _of(size.instances, size.possible),
            f"{size.states:,}",
            f"{size.transitions:,}",
            _share(size.winnable, size.live - size.undecided),
            _explored(size),
        )
        for size in sizes
    ]
    return _table(header, rows, frozenset({6})) if rows else []


def _of(some: int, all_of_them: int) -> str:
    return f"{some:,}" if some >= all_of_them else f"{some:,} of {all_of_them:,}"


def _explored(size: SizeSummary) -> str:
    if size.depth is None:
        return "completely"
    done = f"{size.complete:,} instances completely, " if size.complete else ""
    return f"{done}{'others' if done else 'all'} to {size.depth} picks or more"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _experts(experts: Sequence[ExpertSummary]) -> list[str]:
    header = ("expert", "live states", "answers in", "recovers from", "of the winnable")
    rows = [
        (
            entry.name,
            f"{entry.states:,}",
            _share(entry.labelled, entry.states),
            _share(entry.recoverable, entry.states - entry.undecided),
            _share(entry.recoverable, entry.winnable),
        )
        for entry in experts
    ]
    return _table(header, rows, frozenset({0})) if rows else []


def _examples(report: Report, options: Options) -> list[str]:
    if not report.examples:
        return []
    return [f"  {report.examples:,} random instances of up to {options.sample_nodes} nodes played"]


# Findings


def _lints(report: Report) -> list[str]:
    lines: list[str] = []
    for lint in report.lints:
        lines += _note(report, lint)
    return ["  notes", *lines] if lines else []


def _waived(report: Report) -> list[str]:
    lines: list[str] = []
    for failure, waiver in report.waived:
        name = " ".join(filter(None, (failure.property, failure.expert)))
        why = waiver.reason or "no reason given"
        text = f"{name}: line {waiver.line}: {failure.message} (waived: {why})"
        lines += _bullet(text)
    return ["  waived", *lines] if lines else []


def _note(report: Report, lint: Lint) -> Iterator[str]:
    where = f"line {report.problem.line_of(lint.span)}: " if lint.span else ""
    yield from _bullet(f"{lint.name}: {where}{lint.message}")


def _bullet(text: str) -> Iterator[str]:
    first, *rest = wrap(text, WIDTH - 4)
    yield f"  - {first}"
    for line in rest:
        yield f"    {line}"


def _failure(report: Report, failure: Failure) -> list[str]:
    from gnarl_runtime.checks.witness.telling import render

    name = " ".join(filter(None, (failure.property, failure.expert)))
    which = "the smallest case" if failure.smallest else "one case"
    more = f" {failure.count:,} times; {which}:" if failure.count > 1 else ""
    return [f"FAILS {name}{more}", "", *render(report.problem, failure).splitlines()]


def _verdict(report: Report) -> str:
    name, count = report.problem.name, len(report.failures)
    states = sum(size.states for size in report.sizes)
    what = "passes" if report.passed else f"fails {count} propert{'y' if count == 1 else 'ies'}"
    waived = f", {len(report.waived)} waived" if report.waived else ""
    return f"{name} {what}{waived} ({states:,} states, {report.seconds:.1f} s)"
