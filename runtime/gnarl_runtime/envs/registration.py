"""The shipped specs in, registered Gymnasium environments out, as soon as Gymnasium is there.

Importing Gymnasium takes longer than a command needs to start or to say `--help`. Whoever has
imported it gets the environments at once; otherwise its import, if there is one, brings them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType

GYMNASIUM = "gymnasium"


def environment_id(name: str) -> str:
    """`gnarl/BellmanFord-v0` for the spec bellman_ford."""
    return f"gnarl/{''.join(part.capitalize() for part in name.split('_'))}-v0"


def register_when_needed() -> None:
    """Register now if Gymnasium is loaded, else right after its import."""
    if GYMNASIUM in sys.modules:
        register_shipped()
    else:
        sys.meta_path.insert(0, _Watch())


def register_shipped() -> None:
    """Make every shipped spec available to `gymnasium.make` and `gymnasium.make_vec`."""
    import gymnasium

    from gnarl_dsl.specs import shipped_specs

    for path in shipped_specs():
        if environment_id(path.stem) not in gymnasium.registry:
            gymnasium.register(
                environment_id(path.stem),
                entry_point="gnarl_runtime.envs.making:make",
                vector_entry_point="gnarl_runtime.envs.making:make_vec",
                kwargs={"spec": path.stem},
                disable_env_checker=True,
                order_enforce=False,
            )


# Neither class has a base: importlib.abc alone would cost more than the rest of this package.


class _Watch:
    """A finder that sees the import of Gymnasium coming, once, and leaves everything else alone."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != GYMNASIUM:
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        found = find_spec(name)
        if found is not None and found.loader is not None:
            found.loader = cast("Loader", _Registering(found.loader))
        return found


class _Registering:
    """A loader that loads Gymnasium as its own loader does, then registers."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader  # who asks it for files must not notice
        self.loader.exec_module(module)
        register_shipped()
