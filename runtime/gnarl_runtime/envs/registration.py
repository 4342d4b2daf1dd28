"""The shipped specs in, registered Gymnasium environments out, as soon as Gymnasium is there.

Importing Gymnasium takes longer than a command needs to start or to say `--help`. Whoever has
imported it gets the environments at once; otherwise its import, if there is one, brings them.
Only a hook of the import system hears of that. An entry point of Gymnasium's would load this
package in every program that imports Gymnasium, whether it is about us or not.
"""

from __future__ import annotations

from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from gnarl_dsl.specs import shipped_specs


def environment_id(name: str) -> str:
    """`gnarl/BellmanFord-v0` for the spec bellman_ford."""
    return f"gnarl/{''.join(part.capitalize() for part in name.split('_'))}-v0"


def register_shipped() -> None:
    """Make every shipped spec available to `gymnasium.make` and `gymnasium.make_vec`."""
    import gymnasium

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


def find_and_register(name: str) -> ModuleSpec | None:
    """Where Gymnasium is, with a loader that registers as soon as it is loaded."""
    found = find_spec(name)
    if found is not None and found.loader is not None:
        found.loader = _Registering(found.loader)
    return found


class _Registering(Loader):
    """Loads Gymnasium as its own loader does, then registers."""

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
