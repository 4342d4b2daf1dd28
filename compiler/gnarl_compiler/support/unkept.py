"""Why work is done anew, or slowly, in; a notice out: once, since all that is lost is time."""

from __future__ import annotations

import warnings
from functools import cache

from gnarl_dsl.report.failures import Notice


def tell_unkept(error: Exception) -> None:
    """Say that what was compiled or solved could not be kept."""
    found = error.strerror if isinstance(error, OSError) else None
    _tell(found or "no folder can be written to")


@cache
def _tell(reason: str) -> None:
    told = (
        f"nothing can be kept in the cache ({reason}): every start compiles anew. Make room, or "
        "point GNARL_CACHE to a folder of your own"
    )
    warnings.warn(Notice(told, about="cache"), stacklevel=4)


@cache
def tell_uncompiled() -> None:
    told = (
        "numba is not installed: everything runs as plain Python, some hundred times slower. "
        "Likely fix: pip install 'gnarl-dsl[env]'"
    )
    warnings.warn(Notice(told, about="numba"), stacklevel=3)
