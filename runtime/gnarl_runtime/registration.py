"""The shipped specs in, registered Gymnasium environments out.

Called when `gnarl_runtime` is imported, so this module imports nothing heavy.
"""

from __future__ import annotations

import gymnasium

from gnarl_dsl.specs import shipped_specs


def environment_id(name: str) -> str:
    """`gnarl/BellmanFord-v0` for the spec bellman_ford."""
    return f"gnarl/{''.join(part.capitalize() for part in name.split('_'))}-v0"


def register_shipped() -> None:
    """Make every shipped spec available to `gymnasium.make` and `gymnasium.make_vec`."""
    for path in shipped_specs():
        if environment_id(path.stem) not in gymnasium.registry:
            gymnasium.register(
                environment_id(path.stem),
                entry_point="gnarl_runtime.making:make",
                vector_entry_point="gnarl_runtime.making:make_vec",
                kwargs={"spec": path.stem},
                disable_env_checker=True,
                order_enforce=False,
            )
