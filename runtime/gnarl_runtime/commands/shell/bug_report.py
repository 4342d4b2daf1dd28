"""An exception that nobody foresaw goes in, the file that its traceback was kept in comes out."""

from __future__ import annotations

import platform
import shlex
import sys
import tempfile
import time
import traceback
from pathlib import Path

from gnarl_dsl import __version__


def keep_traceback(name: str, error: BaseException) -> Path | None:
    """Written for its user alone, with versions and what was asked; None if nothing can be."""
    lines = [
        f"{name} of gnarl-dsl {__version__}, Python {platform.python_version()}, "
        f"{platform.platform()}, {time.strftime('%Y-%m-%d %H:%M:%S')}",
        f"asked: {shlex.join(sys.argv)}",
        "",
        *traceback.format_exception(error),
    ]
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", delete=False,
            prefix=f"{name}-", suffix=".txt",
        ) as file:  # fmt: skip
            file.write("\n".join(lines))
    except OSError:
        return None
    return Path(file.name)
