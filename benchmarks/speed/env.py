"""How fast are the environments? Specs in, a table and build/bench/env.json out.

    python -m benchmarks.speed.env                  all problems, about five minutes of a free core
    python -m benchmarks.speed.env --quick          training sizes only, about a minute
    python -m benchmarks.speed.env --problems mvc   one of them

Compared on one core, in one run: the interpreter, a hand-written one-graph environment
(benchmarks/peers), our one-graph environment, and our batch. Absolute figures depend on the
machine and its load; read the ratios.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from benchmarks.frame import say, show, speed_parser
from benchmarks.machine import load_average, pin_to_one_core, provenance
from benchmarks.speed.env_plan import PROBLEMS, Plan


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, write the JSON; 1 if anything could not be measured."""
    options = parse_options(arguments)
    core = pin_to_one_core()
    from benchmarks.speed.env_measure import Measurement, measure_all
    from benchmarks.speed.env_report import report_text

    plan = Plan.from_options(options)
    before = load_average()
    measured: Measurement = measure_all(plan, say)
    record = {
        "provenance": provenance(core=core, load=[before, load_average()]),
        "plan": asdict(plan),
        **asdict(measured),
    }
    show(options.output, record, report_text(record))
    return 1 if measured.failures else 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = speed_parser(__doc__, "env")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="training sizes, short slices")
    extent.add_argument("--full", action="store_true", help="more sizes, longer slices")
    parser.add_argument("--seconds", type=float, help="length of a slice of time")
    parser.add_argument("--repetitions", type=int, default=3, help="slices per figure (median)")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--num-envs", type=int, default=1024, help="graphs in a batch")
    parser.add_argument("--no-fresh", action="store_true", help="skip compile time and memory")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
