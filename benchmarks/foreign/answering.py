"""Lines of JSON in, lines of JSON out: a contestant in an interpreter of its own, asked in turns.

    {"do": "prepare", "problem": "tsp", "nodes": 20, "batch": 64}   builds, compiles, warms up
    {"do": "run", "seconds": 0.2}                                   {"steps": 4096, "seconds": 0.17}

Imports nothing of GNARL. Seconds are of CPU time. Picks are made off the clock; resets are on it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol


class Contestant(Protocol):
    """A batch that plays by random legal picks."""

    def turn(self) -> tuple[int, float]:
        """One or more steps of all of it: how many were made, and seconds on the clock."""
        ...


Builder = Callable[[str, int, int], Contestant]
Other = Callable[[dict[str, Any]], dict[str, Any]]


def serve(build: Builder, others: dict[str, Other]) -> None:
    """Answer until the input ends; a failure is an answer, too."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what packages print is no answer
    playing: list[Contestant] = []
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if asked["do"] == "prepare":
                playing[:] = []
                playing[:] = [build(asked["problem"], asked["nodes"], asked["batch"])]
                run(playing[0], 0.0)
                told: dict[str, Any] = {}
            elif asked["do"] == "run":
                told = run(playing[0], asked["seconds"])
            else:
                told = others[asked["do"]](asked)
        except Exception as error:  # whatever goes wrong over there is told here
            told = {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        print(json.dumps(told), file=answers, flush=True)


def run(contestant: Contestant, seconds: float) -> dict[str, Any]:
    """Turns for some wall time, at least one."""
    steps, inside, wall = 0, 0.0, perf_counter()
    while not steps or perf_counter() - wall < seconds:
        more, spent = contestant.turn()
        steps, inside = steps + more, inside + spent
    return {"steps": steps, "seconds": inside}
