"""The mutation score of gnarl-check: how many small mistakes in the shipped specs it finds.

python tests/checks/mutation.py [--count 400] [--seed 0] [--jobs 2] [--spec NAME] [--write FILE]

With `--log FILE` verdicts are kept as they come, and a run that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from multiprocessing import Pool
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import numpy as np
from mutants import Mutant, all_mutants
from mutation_score import FOUND, Outcome, Verdict, failing, judge, killers, listed, score, table
from shipped_specs import SHIPPED, shipped

from gnarl_compiler.build.files import write_whole

BEGIN, END = "<!-- mutation table: begin -->", "<!-- mutation table: end -->"


def main() -> int:
    args = parse_arguments()
    specs = [args.spec] if args.spec else list(SHIPPED)
    everything = [mutant for spec in specs for mutant in all_mutants(spec)]
    mutants = chosen(everything, args.count, args.seed)
    require_clean(specs)
    verdicts = list(remembered(mutants, args))
    text = "\n".join(report(verdicts, len(everything), args.seed))
    print(text)
    if args.write:
        put_between(args.write, text)
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="at most so many mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--spec", choices=SHIPPED)
    parser.add_argument("--lints", action="store_true", help="ask for lints of those that survive")
    parser.add_argument("--log", type=Path, metavar="FILE", help="keep verdicts, to go on later")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table between markers")
    return parser.parse_args()


def require_clean(specs: Sequence[str]) -> None:
    """A kill means something only if the original passes the same check."""
    for spec in specs:
        _, failure = failing(shipped(spec))
        if failure is not None:
            sys.exit(f"{spec} itself fails {failure.property}: {failure.message}")


def chosen(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """A sample without replacement, in the order of the specs."""
    if count >= len(mutants):
        return mutants
    kept = np.random.default_rng(seed).choice(len(mutants), count, replace=False)
    return [mutants[int(k)] for k in sorted(kept)]


def remembered(mutants: Sequence[Mutant], args: argparse.Namespace) -> Iterator[Verdict]:
    """Verdicts in order: those in the log, and fresh ones, which are added to it."""
    lines = args.log.read_text("utf-8").splitlines() if args.log and args.log.exists() else []
    known = {verdict.described: verdict for verdict in (Verdict(**json.loads(x)) for x in lines)}
    fresh = judged([m for m in mutants if m.describe() not in known], args.jobs, args.lints)
    for mutant in mutants:
        if mutant.describe() not in known:
            known[mutant.describe()] = verdict = next(fresh)
            if args.log:
                with args.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(asdict(verdict)) + "\n")
        yield known[mutant.describe()]


def judged(mutants: Sequence[Mutant], jobs: int, lints: bool) -> Iterator[Verdict]:
    """Verdicts in order, with progress on standard error."""
    began = time.monotonic()
    with Pool(jobs) as pool:
        for number, verdict in enumerate(pool.imap(partial(judge, lints=lints), mutants), 1):
            left = (time.monotonic() - began) / number * (len(mutants) - number)
            if sys.stderr.isatty():
                print(f"{number} of {len(mutants)}, {left:.0f} s left ", end="\r", file=sys.stderr)
            if verdict.outcome in ("lint", "survived"):
                print(f"{verdict.outcome}: {verdict.described} ({verdict.by})", file=sys.stderr)
            yield verdict


def report(verdicts: Sequence[Verdict], possible: int, seed: int) -> Iterator[str]:
    spent = sorted(verdict.seconds for verdict in verdicts)
    everything = verdicts
    verdicts = [verdict for verdict in everything if not verdict.beyond]
    changed = sum(verdict.outcome != "same" for verdict in verdicts)
    later = len(everything) - len(verdicts)
    yield (
        f"{len(everything)} of {possible} mutants (seed {seed}), "
        f"{changed} of which change behaviour on up to four nodes; "
        f"**{100 * score(verdicts):.1f} %** of those are killed by exploring up to three nodes, "
        f"**{100 * score(verdicts, FOUND):.1f} %** with 60 random instances of up to eight nodes. "
        f"With the {later} that change it on five to seven nodes only, it would be "
        f"{100 * score(everything):.1f} % and {100 * score(everything, FOUND):.1f} %; the tables "
        "leave these out."
    )
    yield ""
    yield (
        f"CPU time of the check per mutant: median {spent[len(spent) // 2]:.1f} s, "
        f"largest {spent[-1]:.1f} s, {sum(spent) / 60:.0f} minutes in all, of which "
        f"comparing with the original is no part."
    )
    for column in ("operator", "spec"):
        yield from ("", *table(verdicts, column))
    yield from ("", *killers(verdicts))
    headings: dict[Outcome, str] = {
        "random": "Needed random instances",
        "survived": "Changed behaviour and was not killed",
        "lint": "Was not killed, but gets a lint that the original does not get",
        "same": "No difference was seen up to seven nodes (not counted)",
    }
    for outcome, heading in headings.items():
        yield from ("", f"### {heading}", "")
        yield from listed(verdicts, outcome)
    yield from ("", "### Changed behaviour on five to seven nodes only (not counted)", "")
    for outcome in headings:
        yield from listed([verdict for verdict in everything if verdict.beyond], outcome)


def put_between(path: Path, text: str) -> None:
    """Replace what stands between the markers of a file."""
    before, rest = path.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    write_whole(path, f"{before}{BEGIN}\n\n{text}\n\n{END}{after}".encode(), durable=False)


if __name__ == "__main__":
    sys.exit(main())
