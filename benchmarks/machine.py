"""The machine under a measurement: pinned to one core, and described for the record."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# By benchmarks themselves, below the root
WRITTEN = ("benchmarks/weights", "benchmarks/paper/weights.toml", "docs/results")
PACKAGES = ("gnarl-dsl", "numpy", "numba", "scipy", "gymnasium")


def pin_to_one_core() -> int:
    """Keep this process and its children on one core, one thread; call before NumPy loads."""
    if "numpy" in sys.modules:
        raise RuntimeError("NumPy is loaded already: it may have started its threads")
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def load_average() -> list[float]:
    """The machine's load over 1, 5 and 15 minutes; above its cores, figures suffer."""
    return [round(value, 2) for value in os.getloadavg()]


def processor_time(pid: int) -> float:
    """Milliseconds that a process has worked so far, whatever else the machine did."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return 1e3 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def provenance(**more: Any) -> dict[str, Any]:
    """What another person needs to know to repeat the run, and what else is known of it."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": from_here(own_command()),
        "commit": commit(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: package_version(name) for name in PACKAGES},
        **more,
    }


def own_command() -> list[str]:
    """The command that this process was started with, `python -m` included."""
    started = getattr(sys.modules["__main__"], "__spec__", None)
    if started is None:
        return [Path(sys.argv[0]).name, *sys.argv[1:]]
    return ["python", "-m", started.name.removesuffix(".__main__"), *sys.argv[1:]]


def from_here(command: Iterable[str], root: Path = ROOT) -> list[str]:
    """A command as it is typed in the checkout: folders above it are nobody's business."""
    inside, beside = f"{root}/", f"{root.parent}/"
    return [part.replace(inside, "").replace(beside, "../") for part in command]


def commit(root: Path = ROOT) -> str:
    """The checked-out commit, with a plus sign if files differ from it that benchmarks read."""
    head = git("rev-parse", "HEAD", root=root)
    others = [f":(exclude){folder}" for folder in WRITTEN]
    return head + "+" if head and git("status", "--porcelain", ".", *others, root=root) else head


def short(commit: str) -> str:
    """The beginning of a hash; a plus sign at its end says that files differed from it."""
    return commit[:12] + "+" * commit.endswith("+")


def git(*arguments: str, root: Path = ROOT) -> str:
    """What a git command prints; nothing outside a checkout."""
    try:
        run = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return run.stdout.strip()


def cpu_model() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "")


def package_version(name: str) -> str:
    """An installed package's version."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def memory_megabytes() -> tuple[float, float]:
    """The memory that this process occupies now, and the most it ever did.

    From /proc: what getrusage calls the most includes the parent's before the start.
    """
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.endswith(" kB")}
    return int(sizes["VmRSS"]) / 2**10, int(sizes["VmHWM"]) / 2**10
