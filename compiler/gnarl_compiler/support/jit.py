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

    njit: Any = numba.njit(cache=True, nogil=True)  # type: ignore[no-redef]
    # Counting references is what the option without documentation leaves out.
    _ALONE: dict[str, Any] = {"forceinline": True, "error_model": "numpy", "_nrt": False}
    # For what kernels call per slot and what makes no arrays: counting the references to each array
    # that a call hands over costs more than most of them do.
    inlined: Any = numba.njit(cache=True, nogil=True, **_ALONE)  # type: ignore[no-redef]
