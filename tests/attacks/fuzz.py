"""Attack everything that reads: specs, graphs, checkpoints, configs, editors' messages, words.

    python -m tests.attacks.fuzz spec --count 100000 --seed 1
    python -m tests.attacks.fuzz all --minutes 5
    python -m tests.attacks.fuzz graph --only 1234 --seed 1      one input again

Input number i depends on the seed and i alone. What is not answered in words, or not within ten
seconds of processor time, is kept in tests/attacks/corpus, which the suite tries ever after.
Exit code 1 if there was any.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "attacks")]
from targets import Target, targets  # noqa: E402

CORPUS = Path(__file__).parent / "corpus"
LIMIT = 10.0  # seconds of processor time
TELL_EVERY = 10.0


class TooLongError(BaseException):
    """An input that takes more than its time; nothing of ours may catch it."""


@dataclass
class Tally:
    """What became of some inputs."""

    target: str
    count: int = 0
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, -1)
    kinds: Counter[str] = field(default_factory=Counter)
    findings: dict[str, tuple[int, bytes, str]] = field(default_factory=dict)  # by where it was

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in self.kinds.most_common())
        found = f"{len(self.findings)} not handled" if self.findings else "nothing unhandled"
        rate = 60 * self.count / max(self.seconds, 1e-9)
        return (
            f"{self.target}: {self.count:,} inputs in {self.seconds:.0f} s ({rate:,.0f} a minute), "
            f"slowest {self.slowest[0]:.2f} s (number {self.slowest[1]}); {kinds}; {found}"
        )


def attack(target: Target, numbers: Iterator[int], seed: int, until: float) -> Tally:
    tally, began = Tally(target.name), time.monotonic()
    told = began
    for number in numbers:
        now = time.monotonic()
        if now > until:
            break
        content = target.make(random.Random(f"{target.name} {seed} {number}"))
        spent = time.process_time()
        kind = try_one(target, content, number, tally)
        spent = time.process_time() - spent
        tally.count, tally.seconds = tally.count + 1, time.monotonic() - began
        tally.kinds[kind] += 1
        tally.slowest = max(tally.slowest, (spent, number))
        if now - told > TELL_EVERY:
            told = now
            print(f"  {tally}", file=sys.stderr, flush=True)
    return tally


def try_one(target: Target, content: bytes, number: int, tally: Tally) -> str:
    try:
        with limited(LIMIT):
            return target.run(content)
    except (Exception, TooLongError) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
        tally.findings.setdefault(where, (number, content, traceback.format_exc()))
        return "NOT HANDLED"


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLongError(f"more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def keep(tally: Tally, corpus: Path) -> None:
    """Every finding once, by its content."""
    for where, (number, content, trace) in tally.findings.items():
        name = hashlib.blake2b(content, digest_size=6).hexdigest()
        folder = corpus / tally.target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        print(f"{tally.target} number {number}: {where}, kept as {folder / name}\n{trace}")


def main(argv: Sequence[str] | None = None) -> int:
    known = targets()
    plain = argparse.RawDescriptionHelpFormatter
    name = "python -m tests.attacks.fuzz"
    parser = argparse.ArgumentParser(prog=name, description=__doc__, formatter_class=plain)
    parser.add_argument("target", choices=[*known, "all"], help="what is attacked")
    parser.add_argument("--count", type=int, default=1_000, help="inputs of each (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of all inputs (default 0)")
    parser.add_argument("--first", type=int, default=0, help="the first number (default 0)")
    parser.add_argument("--only", type=int, help="one number only")
    parser.add_argument("--minutes", type=float, default=1e9, help="of each at most")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where findings are kept")
    args = parser.parse_args(argv)
    found = 0
    for target in known.values() if args.target == "all" else [known[args.target]]:
        first = args.first if args.only is None else args.only
        count = args.count if args.only is None else 1
        until = time.monotonic() + 60 * args.minutes
        tally = attack(target, iter(range(first, first + count)), args.seed, until)
        print(tally, flush=True)
        keep(tally, args.corpus)
        found += len(tally.findings)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
