"""Numbers and names that a user gives go in; a UsageError comes out if they make no sense.

The same sentences serve the commands and Python; a `Spelling` says how an argument is written
there. Needs nothing heavy, so that mistakes are told before anything slow happens.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_runtime.search.strategy import (
    KINDS,
    PICKS,
    UNDRIVEN,
    Strategy,
    forms,
    parse_search,
    verify_drivers,
)

# Who wants to know how far a job is: (what is being done, done, total). `Progress` is one.
Tell = Callable[[str, int, int], None]

MOST_NODES = 10_000  # of graphs to evaluate on
MOST_SEED = 2**63 - 1
MOST_THREADS = 1_024
MOST_GRAPHS = 10_000_000  # at once; so many instances take days to draw


def silent(step: str, done: int, total: int) -> None:
    """For those who do not want to know."""


@dataclass(frozen=True)
class Spelling:
    """How arguments are written: `--max-nodes 4` on a command line, `max_nodes=4` in Python."""

    flags: bool

    def name(self, name: str) -> str:
        return f"--{name.replace('_', '-')}" if self.flags else name

    def value(self, name: str, value: object) -> str:
        if not self.flags:
            return f"{name}={value!r}"
        return f"{self.name(name)} {f'{value:g}' if isinstance(value, float) else value}"

    def param(self, name: str, value: str) -> str:
        """How a param of a spec is given."""
        return f"-p {name}={value}" if self.flags else f"params={{{name!r}: {value!r}}}"


PYTHON, FLAGS = Spelling(False), Spelling(True)


def verify_least(spell: Spelling, name: str, value: int | None, least: int) -> None:
    """A whole number that is not too small; None means that nothing was given."""
    if value is not None and not (_is_whole(value) and value >= least):
        raise UsageError(f"{spell.value(name, value)}: expected {least} or more")


def verify_between(spell: Spelling, name: str, value: int | None, least: int, most: int) -> None:
    """A whole number that is neither too small nor beyond reason."""
    verify_least(spell, name, value, least)
    if value is not None and value > most:
        raise UsageError(f"{spell.value(name, value)}: expected at most {most:,}")


def verify_seed(spell: Spelling, seed: int | None) -> None:
    verify_between(spell, "seed", seed, 0, MOST_SEED)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def verify_playing(
    spell: Spelling,
    temperature: float | None,
    samples: int,
    threads: int,
    seed: int,
    max_rounds: int | None,
) -> None:
    """What everybody can say who lets a policy play."""
    if temperature is not None and not (
        isinstance(temperature, Real) and 0 <= temperature < float("inf")
    ):
        told = spell.value("temperature", temperature)
        raise UsageError(f"{told}: expected a number from 0 up")
    verify_between(spell, "samples", samples, 1, MOST_GRAPHS)
    verify_between(spell, "threads", threads, 1, MOST_THREADS)
    verify_seed(spell, seed)
    verify_between(spell, "max_rounds", max_rounds, 1, MOST_SEED)


def verify_attempts(spell: Spelling, temperature: float | None, samples: int) -> None:
    """Several attempts at a graph are for episodes that differ."""
    if samples > 1 and not temperature:
        both = (spell.value("temperature", 0.05), spell.value("samples", 100))
        example = (" " if spell.flags else ", ").join(both)
        raise UsageError(
            f"{spell.value('samples', samples)} without {spell.name('temperature')} would play "
            f"the same picks again; expected both, such as {example}"
        )


def chosen_search(
    spell: Spelling,
    search: str | Strategy | None,
    samples: int | None,
    temperature: float | None,
    has_policy: bool,
) -> Strategy:
    """The strategy that is asked for, or a UsageError if what was given does not go together."""
    if search is not None and samples is not None:
        both = f"{spell.value('search', str(search))} and {spell.value('samples', samples)}"
        raise UsageError(f"{both}: expected one of them; {spell.name('samples')} is sample:K")
    if samples is not None:
        strategy = Strategy("sample", samples)
    elif search is None:
        strategy = PICKS if has_policy else UNDRIVEN
    else:
        strategy = parse_search(search) if isinstance(search, str) else search
    verify_drivers(strategy, has_policy)
    if temperature is None:
        return strategy
    told = spell.value("temperature", temperature)
    if not has_policy:
        raise UsageError(f"{told}: that is how a policy draws, and there is none")
    if not strategy.kind.draws:
        drawing = " and ".join(form for form in forms() if KINDS[form.partition(":")[0]].draws)
        raise UsageError(f"{told} says nothing to {strategy}; it belongs to {drawing}")
    if strategy.name == "sample" and not temperature:
        raise UsageError(f"{told}: {strategy} draws; expected a number above 0")
    return strategy


def verify_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Numbers of nodes, each once, in that order."""
    for size in sizes:
        if not _is_whole(size) or not 1 <= size <= MOST_NODES:
            raise UsageError(
                f"sizes: found {size!r}; expected numbers of nodes from 1 to {MOST_NODES:,}, such "
                "as sizes=[16, 64, 256]"
            )
    return tuple(dict.fromkeys(int(size) for size in sizes))


def verify_checking(spell: Spelling, max_nodes: int, examples: int, states: int, seed: int) -> None:
    """The budgets of a check."""
    if not _is_whole(max_nodes) or not 1 <= max_nodes <= 6:
        raise UsageError(
            f"{spell.value('max_nodes', max_nodes)}: expected a number from 1 to 6; larger "
            f"instances are played at random ({spell.name('examples')})"
        )
    verify_between(spell, "examples", examples, 0, MOST_GRAPHS)
    verify_between(spell, "states", states, 1, MOST_SEED)
    verify_seed(spell, seed)


def verify_training(
    spell: Spelling, minutes: float | None, threads: int | None, seed: int | None
) -> None:
    """What everybody can say who trains."""
    if minutes is not None and not (isinstance(minutes, Real) and 0 < minutes <= 60 * 24 * 30):
        told = spell.value("minutes", minutes)
        raise UsageError(f"{told}: expected a positive number of minutes")
    verify_between(spell, "threads", threads, 1, MOST_THREADS)
    verify_seed(spell, seed)


def verify_choice(spell: Spelling, name: str, given: str | None, known: Sequence[str]) -> None:
    """A name among those that are known, or none."""
    if given is not None and given not in known:
        fix = did_you_mean(given, known)
        has = f"expected one of: {', '.join(known)}" if known else "the spec has none"
        raise UsageError(f"{spell.value(name, given)}: {has}" + (f"\n{fix}" if fix else ""))


def verify_input(what: str, path: str | Path) -> None:
    """A UsageError unless a file is there."""
    if not Path(path).is_file():
        found = "is a folder" if Path(path).is_dir() else "there is no such file"
        raise UsageError(f"{what}: {found}; expected a file of graphs")


def verify_output(what: str, path: str | Path, endings: tuple[str, ...] = ()) -> None:
    """A UsageError now rather than after the work, if a file cannot be written there."""
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise UsageError(f"{what}: is a folder; expected the name of a file")
    if not folder.is_dir():
        raise UsageError(f"{what}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{what}: nothing can be written in {folder}")
    if endings and target.suffix.lower() not in endings:
        raise UsageError(f"{what}: expected a name that ends in {' or '.join(endings)}")
