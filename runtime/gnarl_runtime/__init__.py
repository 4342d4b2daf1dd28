"""The runtime of GNARL: environments, encoders, policies and training.

Importing it registers the shipped specs with Gymnasium:

    import gymnasium, gnarl_runtime
    env = gymnasium.make("gnarl/BellmanFord-v0", nodes=16)

or, without the import, `gymnasium.make("gnarl_runtime:gnarl/BellmanFord-v0")`. Gymnasium, Numba
and torch are loaded by the modules that use them; so is what registers, because every command
passes here and most have no use for it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_GYMNASIUM = "gymnasium"


class _Watch:
    """A finder that sees the import of Gymnasium coming, once, and leaves everything else alone."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _GYMNASIUM:
            return None
        from gnarl_runtime.envs.registration import find_and_register

        sys.meta_path.remove(self)
        return find_and_register(name)


if _GYMNASIUM in sys.modules:
    from gnarl_runtime.envs.registration import register_shipped

    register_shipped()
else:
    sys.meta_path.insert(0, _Watch())
