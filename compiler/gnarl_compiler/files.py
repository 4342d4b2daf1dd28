"""Text in, a complete file on disk out, never half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_module(text: str, folder: Path, name: str) -> Path:
    """Write NAME.py into a folder, unless it is there already with the same text."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    if path.is_file() and path.read_text("utf-8") == text:
        return path
    handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)
    return path
