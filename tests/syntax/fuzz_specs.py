"""Mutate the shipped specs and check that every result is answered, and quickly.

    python tests/syntax/fuzz_specs.py --count 100000 --seed 0 --jobs 1

Each mutant is checked and its findings are rendered; nothing but findings may come out,
in less than two seconds of processor time. Mutant number i depends on the seed and i
only, so a failure is repeated with `--only i`. Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import monotonic, process_time

from gnarl_dsl.loading import check_text
from gnarl_dsl.report.render import render_all, to_record
from gnarl_dsl.specs import shipped_specs
from gnarl_dsl.syntax.parse import load_grammar

LIMIT = 2.0  # seconds of processor time for one mutant
_HANG = 60  # seconds of wall time after which a mutant counts as hanging
_CHUNK = 250
_TOKEN = re.compile(r"\n[ ]*|\w+|[^\w\s]+|[ ]+")
_ODD = [
    "",
    "\0",
    "\t",
    "\r",
    "\x1b[2J",
    "é",
    "∀",
    "🔦",
    '"',
    "'",
    "#",
    "\\",
    "1e999",
    "_",
    "0",
    "-",
    "a" * 300,
]


@dataclass(frozen=True)
class Failure:
    """One mutant that was not answered as it should be."""

    number: int
    what: str
    text: str


@dataclass
class Summary:
    """What became of some mutants."""

    count: int = 0
    sound: int = 0
    slowest: tuple[float, int] = (0.0, -1)
    codes: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Summary) -> None:
        self.count += other.count
        self.sound += other.sound
        self.slowest = max(self.slowest, other.slowest)
        self.codes += other.codes
        self.failures += other.failures


# Mutants


@cache
def originals() -> tuple[str, ...]:
    return tuple(path.read_text("utf-8") for path in shipped_specs())


@cache
def vocabulary() -> tuple[str, ...]:
    words = {token for text in originals() for token in _TOKEN.findall(text)}
    return (*sorted(words | set(load_grammar().kinds)), *_ODD)


def mutant(seed: int, number: int) -> str:
    """Mutant `number`: a shipped spec with one to six changes."""
    rng = random.Random(f"{seed} {number}")
    text = rng.choice(originals())
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 6])):
        text = rng.choice(_CHANGES)(text, rng)
    return text


def _change_tokens(change: Callable[[list[str], int, random.Random], None]) -> Change:
    def changed(text: str, rng: random.Random) -> str:
        tokens = _TOKEN.findall(text) or [""]
        change(tokens, rng.randrange(len(tokens)), rng)
        return "".join(tokens)

    return changed


def _change_lines(change: Callable[[list[str], int, random.Random], None]) -> Change:
    def changed(text: str, rng: random.Random) -> str:
        lines = text.split("\n")
        change(lines, rng.randrange(len(lines)), rng)
        return "\n".join(lines)

    return changed


def _delete(parts: list[str], at: int, rng: random.Random) -> None:
    del parts[at : at + rng.choice([1, 1, 1, 2, 4])]


def _duplicate(parts: list[str], at: int, rng: random.Random) -> None:
    parts[at:at] = parts[at : at + rng.choice([1, 1, 2, 5])] * rng.choice([1, 1, 3])


def _swap(parts: list[str], at: int, rng: random.Random) -> None:
    other = rng.randrange(len(parts))
    parts[at], parts[other] = parts[other], parts[at]


def _insert(parts: list[str], at: int, rng: random.Random) -> None:
    parts.insert(at, rng.choice(["", " "]) + rng.choice(vocabulary()) + rng.choice(["", " "]))


def _replace(parts: list[str], at: int, rng: random.Random) -> None:
    parts[at] = rng.choice(vocabulary())


def _nest(parts: list[str], at: int, rng: random.Random) -> None:
    opening, closing = rng.choice([("(", ")"), ("not (", ")"), ("-", ""), ("x[", "]"), ("{", "}")])
    depth = rng.choice([1, 2, 30, 120])
    parts[at] = opening * depth + parts[at] + closing * depth


def _indent(parts: list[str], at: int, rng: random.Random) -> None:
    line = parts[at].lstrip(" ")
    parts[at] = rng.choice(["", " ", "  ", "   ", "    ", "      ", "\t", " \t"]) + line


def _move(parts: list[str], at: int, rng: random.Random) -> None:
    line = parts.pop(at)
    parts.insert(rng.randrange(len(parts) + 1), line)


def _borrow(parts: list[str], at: int, rng: random.Random) -> None:
    """A line of another spec."""
    parts.insert(at, rng.choice(rng.choice(originals()).split("\n")))


def _truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _random_characters(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    noise = "".join(chr(rng.choice([rng.randrange(256), rng.randrange(0x3000)])) for _ in range(4))
    return text[:at] + noise + text[at:]


Change = Callable[[str, random.Random], str]
_CHANGES: tuple[Change, ...] = (
    *(_change_tokens(c) for c in (_delete, _duplicate, _swap, _insert, _replace, _nest)),
    *(_change_lines(c) for c in (_delete, _duplicate, _indent, _move, _borrow)),
    _truncate,
    _random_characters,
)


# Checks


def check_mutants(seed: int, numbers: Sequence[int]) -> Summary:
    summary = Summary()
    for number in numbers:
        text = mutant(seed, number)
        start = process_time()
        what, codes = answer(text)
        seconds = process_time() - start
        if what is None and seconds > LIMIT:
            what = f"took {seconds:.1f} s"
        if what is not None:
            summary.failures.append(Failure(number, what, text))
        summary.count += 1
        summary.sound += not codes
        summary.codes.update(set(codes))
        summary.slowest = max(summary.slowest, (seconds, number))
    return summary


def answer(text: str) -> tuple[str | None, list[str]]:
    """What went wrong in checking and rendering, if anything, and the codes that were found."""
    try:
        with _deadline(_HANG):
            checked = check_text(text)
            render_all(checked.diagnostics, checked.sources)
            for finding in checked.diagnostics:
                to_record(finding, checked.sources)
            if checked.problem is not None:
                _ = checked.problem.hash
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200], []
    codes = [finding.code for finding in checked.diagnostics]
    has_errors = any(finding.is_error for finding in checked.diagnostics)
    if has_errors == (checked.problem is not None):
        return "errors and a problem, or neither", codes
    return None, codes


@contextmanager
def _deadline(seconds: int) -> Iterator[None]:
    """Interrupt what hangs, where the system can."""

    def interrupt(*_: object) -> None:
        raise TimeoutError(f"no answer after {seconds} s")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def minimise(failure: Failure) -> str:
    """The smallest text found that fails in the same way: lines go first, then tokens."""
    kind = failure.what.split(":")[0]

    def fails(text: str) -> bool:
        what, _ = answer(text)
        return what is not None and what.split(":")[0] == kind

    if kind.startswith("took"):
        return failure.text
    lines = _shrink(failure.text.split("\n"), "\n", fails)
    return "".join(_shrink(_TOKEN.findall("\n".join(lines)), "", fails))


def _shrink(parts: list[str], glue: str, fails: Callable[[str], bool]) -> list[str]:
    size = max(1, len(parts) // 2)
    while size:
        at = 0
        while at < len(parts):
            fewer = parts[:at] + parts[at + size :]
            if fails(glue.join(fewer)):
                parts = fewer
            else:
                at += size
        size //= 2
    return parts


# Command line


def run(seed: int, numbers: Sequence[int], jobs: int) -> Summary:
    chunks = [numbers[i : i + _CHUNK] for i in range(0, len(numbers), _CHUNK)]
    total, progress = Summary(), _Progress(len(numbers))
    if jobs == 1:
        for chunk in chunks:
            total.add(check_mutants(seed, chunk))
            progress.show(total)
        return total
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(check_mutants, seed, chunk) for chunk in chunks]):
            total.add(done.result())
            progress.show(total)
    return total


class _Progress:
    """A line every few seconds: how far, how fast, how long it will take."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.start = self.last = monotonic()

    def show(self, so_far: Summary) -> None:
        now = monotonic()
        if now - self.last < 3 or so_far.count == self.target:
            return
        self.last = now
        rate = so_far.count / (now - self.start)
        left = (self.target - so_far.count) / rate
        text = f"{so_far.count:,} of {self.target:,}, {rate:,.0f}/s, {left:,.0f} s left"
        print(f"{text}, {len(so_far.failures)} failed", file=sys.stderr, flush=True)


def report(summary: Summary, seconds: float) -> None:
    slowest, number = summary.slowest
    print(f"{summary.count:,} mutants in {seconds:,.0f} s, {summary.sound:,} without findings")
    print(f"slowest: number {number}, {slowest:.2f} s of processor time")
    print(f"codes seen: {len(summary.codes)}; {len(summary.failures)} failed")


def show_failures(failures: Sequence[Failure], save: Path | None) -> None:
    first = min(failures, key=lambda failure: failure.number)
    for failure in failures[:20]:
        print(f"number {failure.number}: {failure.what}")
    text = minimise(first)
    if save is None:
        print(f"the first of them, minimised:\n{text}")
    else:
        save.write_text(text, "utf-8", errors="surrogatepass")
        print(f"the first of them, minimised, is in {save}")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, help="check this mutant alone and print it")
    parser.add_argument("--save", type=Path, help="write a minimised failing text here")
    args = parser.parse_args(argv)
    if args.only is not None:
        print(mutant(args.seed, args.only))
    numbers = range(args.count) if args.only is None else [args.only]
    start = monotonic()
    summary = run(args.seed, numbers, args.jobs)
    report(summary, monotonic() - start)
    if summary.failures:
        show_failures(summary.failures, args.save)
    return 1 if summary.failures else 0


if __name__ == "__main__":
    sys.exit(main())
