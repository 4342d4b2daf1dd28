"""Text or bytes in, a complete file on disk out, never half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from gnarl_compiler.support.unkept import tell_unkept


def write_module(text: str, folder: Path, name: str) -> Path:
    """Write NAME.py into a folder, unless it is there already with the same text.

    A folder that is not there is made for its user alone: what lies in it will be run.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{name}.py"
    if not (path.is_file() and path.read_text("utf-8") == text):
        write_whole(path, text.encode(), durable=False)
    return path


def keep_module(text: str, folder: Path, name: str) -> Path:
    """The same in a cache: where it cannot be written to, that costs speed only."""
    try:
        return write_module(text, folder, name)
    except OSError as error:
        tell_unkept(error)
        return folder / f"{name}.py"


def write_whole(path: Path, content: bytes, durable: bool = True) -> None:
    """Write a file under another name beside it, then put it in place in one step.

    A durable file is on the disk when this returns, which takes some milliseconds. Where a link
    stands, the file that it leads to is written; a device or a pipe is written to, never replaced.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    try:
        _replace(path, content, durable)
    except OSError as error:  # of a full disk the system does not say which file did not fit
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _replace(path: Path, content: bytes, durable: bool) -> None:
    name = path.name[:100]  # the name of the other file is longer than this one's
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.chmod(temporary, _mode_of(path))
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode_of(path: Path) -> int:
    """Who may read the file: as before, or as the user's mask says of new files."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
