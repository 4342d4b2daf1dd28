"""Nothing in, a folder out that nobody else can write to: where compiled code is kept.

What lies there is run: machine code, and Numba's index of it, which is a pickle. So the folder
belongs to the user, nobody else may enter it, and links are not followed. A folder that others
could have written to is not used, whatever is in it; a temporary one takes its place.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
import warnings
from functools import cache
from pathlib import Path

from gnarl_dsl.report.failures import Notice

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class CacheError(Exception):
    """Why a folder cannot be trusted or used, and what would help."""


def cache_folder() -> Path:
    """`$GNARL_CACHE`, or `gnarl` in the user's cache folder; it may not be there yet."""
    own = os.environ.get("GNARL_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(own) if own else base / "gnarl"


def private_cache(part: str = "") -> Path:
    """The cache, or a part of it; a temporary one, with a notice, if it cannot be trusted."""
    folder = cache_folder()
    try:
        make_private(folder)
        return make_private(folder / part) if part else folder
    except CacheError as error:
        _tell(str(error))
        return make_private(_temporary() / part) if part else _temporary()


def make_private(folder: Path) -> Path:
    """The folder, made if it is not there; a CacheError unless it is the user's alone."""
    try:
        if not os.path.lexists(folder):
            _make(folder)
        found = folder.lstat()
    except OSError as error:
        raise CacheError(f"the cache folder {folder} cannot be used: {error.strerror}") from None
    _verify(folder, found)
    if stat.S_IMODE(found.st_mode) != stat.S_IRWXU:
        folder.chmod(stat.S_IRWXU)
    return folder


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=stat.S_IRWXU, parents=True)
        folder.chmod(stat.S_IRWXU)  # whatever the umask took away
    except FileExistsError:  # by another process of ours, or by somebody else: it is looked at
        pass


def _verify(folder: Path, found: os.stat_result) -> None:
    fix = "point GNARL_CACHE to a folder of your own"
    if not stat.S_ISDIR(found.st_mode):
        what = "a link" if stat.S_ISLNK(found.st_mode) else "no folder"
        raise CacheError(f"the cache folder {folder} is {what}; likely fix: {fix}")
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise CacheError(f"the cache folder {folder} belongs to somebody else; likely fix: {fix}")
    if stat.S_IMODE(found.st_mode) & _OTHERS_WRITE:
        raise CacheError(
            f"the cache folder {folder} can be written by others, so what is in it cannot be "
            f"trusted; likely fix: remove it, or {fix}"
        )


@cache
def _temporary() -> Path:
    """A folder for this process alone."""
    folder = Path(tempfile.mkdtemp(prefix="gnarl-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _tell(reason: str) -> None:
    told = f"{reason}. Until then compiled code is kept in a temporary folder, and made anew"
    warnings.warn(told, Notice, stacklevel=4)
