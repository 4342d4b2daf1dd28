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

else:
    import numba

    njit: Any = numba.njit(cache=True, nogil=True)  # type: ignore[no-redef]
