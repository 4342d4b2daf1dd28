"""Train for minutes and watch: memory that grows, files that stay open.

    python -m tests.attacks.soak bc --minutes 15
    python -m tests.attacks.soak improve --spec mvc --minutes 5

Twice a second the process is looked at through /proc. The first third is warming up; afterwards
the median of the last third may be at most 5 % above that of the second, and no further file may be
open. Exit code 1 if it is not so.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

SPECS = {"bc": "bfs", "ppo": "mvc", "improve": "mvc"}
MOST_GROWTH = 1.05


def megabytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text("utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def files(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("trainer", choices=SPECS)
    parser.add_argument("--spec", help="what to train on (default: one that the trainer is for)")
    parser.add_argument("--minutes", type=float, default=15)
    args = parser.parse_args()
    seen: list[tuple[float, int]] = []
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        words = ["--spec", args.spec or SPECS[args.trainer], "--out", f"{folder}/run"]
        words += ["--set", f"trainer={args.trainer}", "--set", f"{args.trainer}.updates=10000000"]
        words += ["--set", "validation.every=200", "--set", "stop_when_perfect=false"]
        words += ["--recipe", args.spec or SPECS[args.trainer]]
        module = [sys.executable, "-m", "gnarl_runtime.commands.train"]
        run = subprocess.Popen([*module, *words], stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60 * args.minutes
        while time.monotonic() < until and run.poll() is None:
            time.sleep(0.5)
            if Path(folder, "run", "metrics.jsonl").exists():
                seen.append((megabytes(run.pid), files(run.pid)))
        ended = run.poll()
        run.kill()
        run.wait()
    third = len(seen) // 3
    if ended is not None or third < 10:
        print(f"{args.trainer}: ended by itself with {ended} after {len(seen)} looks")
        return 1
    second, last = seen[third : 2 * third], seen[2 * third :]
    before, after = (median(size for size, _ in part) for part in (second, last))
    opened = max(count for _, count in last) - max(count for _, count in second)
    fine = after <= MOST_GROWTH * before and opened <= 0
    print(
        f"{args.trainer}: {len(seen)} looks in {args.minutes:g} minutes, {before:.0f} MB then "
        f"{after:.0f} MB (at most {max(size for size, _ in seen):.0f}), {seen[-1][1]} files open, "
        f"{opened:+d}: {'flat' if fine else 'GROWS'}"
    )
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
