"""How fast are the environments? Specs in, a table and build/bench/env.json out.

    python benchmarks/env.py                  all problems, about five minutes of a free core
    python benchmarks/env.py --quick          training sizes only, about a minute
    python benchmarks/env.py --problems mvc   one of them

Compared on one core, in one run: the interpreter, a hand-written one-graph environment
(benchmarks/peers), our one-graph environment, and our batch. Absolute figures depend on the
machine and its load; read the ratios.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

if __package__ in (None, ""):  # run as a script: the checkout is not on the path yet
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import ROOT, load_average, pin_to_one_core, provenance
from benchmarks.plan import PROBLEMS, Plan


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, write the JSON; 1 if anything could not be measured."""
    options = parse_options(arguments)
    core = pin_to_one_core()
    from benchmarks.measure import Measurement, measure_all
    from benchmarks.tables import report_text

    plan = Plan.from_options(options)
    before = load_average()
    measured: Measurement = measure_all(plan, say)
    record = {
        "provenance": {**provenance(), "core": core, "load": [before, load_average()]},
        "plan": asdict(plan),
        **asdict(measured),
    }
    write_json(options.output, record)
    print(report_text(record))
    print(f"\nwritten: {options.output}")
    return 1 if measured.failures else 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="training sizes, short slices")
    extent.add_argument("--full", action="store_true", help="more sizes, longer slices")
    parser.add_argument("--seconds", type=float, help="length of a slice of time")
    parser.add_argument("--repetitions", type=int, default=3, help="slices per figure (median)")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--num-envs", type=int, default=1024, help="graphs in a batch")
    parser.add_argument("--no-fresh", action="store_true", help="skip compile time and memory")
    output = ROOT / "build" / "bench" / "env.json"
    parser.add_argument("--output", type=Path, default=output, help="where the JSON goes")
    return parser.parse_args(arguments)


def write_json(path: Path, record: Mapping[str, object]) -> None:
    """Write the record, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2) + "\n", "utf-8")


def say(line: str) -> None:
    """A line of progress."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
