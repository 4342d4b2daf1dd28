"""How long the front end takes: a table on the screen and build/bench/front_end.json.

python -m benchmarks.speed.front_end
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TypedDict

from benchmarks.frame import show, speed_parser
from benchmarks.machine import load_average, provenance
from gnarl_dsl.loading import check_file
from gnarl_dsl.specs import find_spec, shipped_specs

STARTS, CHECKS = 5, 20
LIMIT_MS = 30.0  # parsing and checking one shipped spec, warm


class Row(TypedDict):
    what: str
    median_ms: float
    best_ms: float
    worst_ms: float
    runs: int


def measure(what: str, action: Callable[[], object], runs: int) -> Row:
    """Run once to warm up, then `runs` times."""
    action()
    times = sorted(_milliseconds(action) for _ in range(runs))
    return {
        "what": what,
        "median_ms": round(median(times), 2),
        "best_ms": round(times[0], 2),
        "worst_ms": round(times[-1], 2),
        "runs": runs,
    }


def _milliseconds(action: Callable[[], object]) -> float:
    start = perf_counter()
    action()
    return 1e3 * (perf_counter() - start)


def start_ups() -> list[Row]:
    """A bare interpreter, and the compile command if it is installed."""
    rows = [_start_up("python -c pass", [sys.executable, "-c", "pass"])]
    command = Path(sys.executable).with_name("gnarl-compile")
    spec = find_spec("bfs")
    if command.exists() and spec is not None:
        rows.append(_start_up("gnarl-compile bfs.gnarl", [str(command), str(spec)]))
    return rows


def _start_up(what: str, command: Sequence[str]) -> Row:
    def run() -> None:
        subprocess.run(command, check=True, capture_output=True)

    return measure(what, run, STARTS)


def checks() -> list[Row]:
    return [
        measure(f"check {path.name}", lambda path=path: check_file(path), CHECKS)  # type: ignore[misc]
        for path in shipped_specs()
    ]


def report_lines(rows: Sequence[Row]) -> Iterator[str]:
    yield f"{'':32} {'median':>9} {'best':>9} {'worst':>9}"
    for row in rows:
        times = "".join(f" {row[key]:6.1f} ms" for key in ("median_ms", "best_ms", "worst_ms"))
        yield f"{row['what']:32}{times}"
    slow = [r["what"] for r in rows if r["what"].startswith("check") and r["median_ms"] > LIMIT_MS]
    yield f"over {LIMIT_MS:.0f} ms: {', '.join(slow) or 'none'}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON."""
    options = speed_parser(__doc__, "front_end").parse_args(arguments)
    rows = [*start_ups(), *checks()]
    record = {**provenance(load=load_average()), "rows": rows}
    show(options.output, record, "\n".join(report_lines(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
