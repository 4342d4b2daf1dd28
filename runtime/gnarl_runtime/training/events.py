"""Metrics in, TensorBoard event files out; nothing, if tensorboardX is not installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any


class EventWriter:
    """Adds every metric under its own name."""

    def __init__(self, folder: Path) -> None:
        self.writer: Any = None
        try:
            module = import_module("tensorboardX")
        except ImportError:
            return
        self.writer = module.SummaryWriter(str(folder), flush_secs=20)

    def add(self, entry: Mapping[str, float]) -> None:
        """One entry of the metrics; `update` is the step."""
        if self.writer is not None:
            for name, value in entry.items():
                if name != "update":
                    self.writer.add_scalar(name, value, int(entry["update"]))

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
