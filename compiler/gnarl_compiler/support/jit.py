"""A function in, its compiled form out; the same function where compiling is off.

Machine code is kept beside the file that a function stands in, or in the user's cache. Where it
cannot be kept (a read-only folder, a full disk), or what was kept cannot be read, it is made anew.
"""

from __future__ import annotations

import os
import pickle
from importlib.util import find_spec
from typing import Any

from gnarl_compiler.support.unkept import tell_unkept

# Off: for debugging, and for tests of many small specs. Functions are decorated while their modules
# are imported, so it must be known by then, before anybody could pass an option.
# Without Numba everything runs as plain Python, right and slow.
WANTED = os.environ.get("GNARL_JIT") != "off"
COMPILED = WANTED and find_spec("numba") is not None

if not COMPILED:

    def njit(function: Any) -> Any:
        return function

    inlined = njit

else:
    import numba
    from numba.core.caching import FunctionCache

    _NO_INDEX = (pickle.PickleError, EOFError, ValueError, TypeError, AttributeError, IndexError)

    class _Kept(FunctionCache):
        """Numba's cache, which costs speed only where it does not work."""

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            except Exception:  # cut off when a disk was full, or of another version
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                try:
                    super().save_overload(sig, data)  # type: ignore[no-untyped-call]
                except _NO_INDEX:
                    self.flush()  # type: ignore[no-untyped-call]
                    super().save_overload(sig, data)  # type: ignore[no-untyped-call]
            except OSError as error:
                tell_unkept(error)

    def _compiled(function: Any, **options: Any) -> Any:
        # Nothing here is called from C: a way in from there would be compiled for nothing.
        chosen: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **options}
        dispatcher: Any = numba.njit(**chosen)(function)
        try:
            dispatcher._cache = _Kept(function)  # type: ignore[no-untyped-call]
        except (RuntimeError, OSError) as error:  # there is no folder that could be written to
            tell_unkept(error)
        return dispatcher

    def njit(function: Any) -> Any:
        return _compiled(function)

    # Counting references is what the option without documentation leaves out. Python calls none of
    # what is inlined, so it has no way in from there either.
    _ALONE: dict[str, Any] = {"forceinline": True, "error_model": "numpy", "_nrt": False}
    _ALONE["no_cpython_wrapper"] = True

    def inlined(function: Any) -> Any:
        """For what kernels call per slot and what makes no arrays: counting the references to each
        array that a call hands over costs more than most of them do."""
        return _compiled(function, **_ALONE)
