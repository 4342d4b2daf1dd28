"""A function in, its compiled form out; the same function where compiling is off."""

from __future__ import annotations

import os
from typing import Any

# Off: for debugging, and for tests of many small specs. Functions are decorated while their modules
# are imported, so it must be known by then, before anybody could pass an option.
COMPILED = os.environ.get("GNARL_JIT") != "off"

if not COMPILED:

    def njit(function: Any) -> Any:
        return function

    inlined = njit

else:
    import numba

    # Nothing here is called from C: a way in from there would be compiled for nothing.
    _SHARED: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
    njit: Any = numba.njit(**_SHARED)  # type: ignore[no-redef]
    # For what kernels call per slot and what makes no arrays: counting the references to each array
    # that a call hands over costs more than most of them do. The option without documentation
    # leaves it out. Python calls none of these, so they have no way in from there either.
    _ALONE: dict[str, Any] = {"forceinline": True, "error_model": "numpy", "_nrt": False}
    _ALONE["no_cpython_wrapper"] = True
    inlined: Any = numba.njit(**_SHARED, **_ALONE)  # type: ignore[no-redef]
