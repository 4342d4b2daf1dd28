"""The name of a module that is not installed in, the line that installs it out.

`pip install gnarl-dsl` brings what it takes to write, check and format specs and to run them in
the interpreter. What compiles, plays, trains and draws is larger by far and comes as extras.
"""

from __future__ import annotations

from gnarl_dsl.report.failures import UsageError

_EXTRAS = {
    "env": ("gymnasium", "llvmlite", "networkx", "numba", "scipy"),
    "train": (
        *("matplotlib", "PIL", "safetensors", "tensorboardX", "torch", "torch_geometric"),
        *("pandas", "sympy"),
    ),
    "lsp": ("lsprotocol", "pygls"),
    "play": ("starlette", "uvicorn"),
    "sweep": ("joblib", "optuna", "submitit"),
    "mcp": ("mcp",),
}


class MissingExtra(UsageError, ImportError):
    """What was asked for needs a package that is not installed."""


def missing_extra(error: ModuleNotFoundError) -> MissingExtra | None:
    """What to tell a person; None if the module is none of those that extras bring."""
    name = (error.name or "").partition(".")[0]
    for extra, modules in _EXTRAS.items():
        if name in modules:
            return MissingExtra(
                f"{name} is not installed; this needs the extra `{extra}`\n"
                f"Likely fix: pip install 'gnarl-dsl[{extra}]'"
            )
    return None
