"""A function in, its compiled form out; the same function where compiling is off."""

from __future__ import annotations

import os
from typing import Any

COMPILED = os.environ.get("GNARL_JIT") != "off"  # off: for debugging, tests of many small specs

if not COMPILED:

    def njit(function: Any) -> Any:
        return function

else:
    import numba

    njit: Any = numba.njit(cache=True, nogil=True)  # type: ignore[no-redef]
