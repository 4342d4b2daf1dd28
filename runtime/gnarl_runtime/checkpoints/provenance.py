"""Nothing in, what another person needs to know to repeat a run out."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = ("gnarl-dsl", "torch", "torch-geometric", "numpy", "numba", "scipy")


def provenance() -> dict[str, Any]:
    """Date, versions and machine."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: package_version(name) for name in PACKAGES},
    }


def cpu_model() -> str:
    """The processor's name where the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = (line.partition(":")[2].strip() for line in file if "model name" in line)
            return next(names, platform.processor())
    except OSError:
        return platform.processor()


def peak_megabytes() -> float | None:
    """The most memory that this process ever occupied, where the system tells it."""
    try:
        with open("/proc/self/status", encoding="utf-8") as file:
            peaks = (int(line.split()[1]) for line in file if line.startswith("VmHWM"))
            return round(next(peaks) / 2**10, 1)
    except (OSError, StopIteration):
        return None


def package_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
