"""Data flows one way: each package imports only what stands above it, and no more than it needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {
    "gnarl_dsl": ROOT / "gnarl_dsl",
    "gnarl_compiler": ROOT / "compiler" / "gnarl_compiler",
    "gnarl_runtime": ROOT / "runtime" / "gnarl_runtime",
}
ALLOWED = {
    "gnarl_dsl": {"gnarl_dsl"},
    "gnarl_compiler": {"gnarl_dsl", "gnarl_compiler"},
    "gnarl_runtime": {"gnarl_dsl", "gnarl_compiler", "gnarl_runtime"},
}
# The newcomer's front door looks downstream, lazily.
EXCEPTIONS = {
    ("gnarl_dsl/__init__.py", "gnarl_compiler"),
    ("gnarl_dsl/__init__.py", "gnarl_runtime"),
    ("gnarl_dsl/testing.py", "gnarl_compiler"),
    ("gnarl_dsl/testing.py", "gnarl_runtime"),
}


def imported_packages(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", FOLDERS)
def test_arrows_point_one_way(package: str) -> None:
    for path in FOLDERS[package].rglob("*.py"):
        ours = imported_packages(path) & set(FOLDERS)
        name = path.relative_to(FOLDERS[package].parent).as_posix()
        forbidden = {p for p in ours - ALLOWED[package] if (name, p) not in EXCEPTIONS}
        assert not forbidden, f"{name} imports {forbidden}"


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("gnarl_dsl.loading", {"torch", "numpy", "scipy", "networkx", "gymnasium"}),
        ("gnarl_dsl.format", {"torch", "numpy", "scipy", "networkx", "pydantic"}),
        ("gnarl_compiler.cli", {"torch", "numpy", "scipy", "networkx"}),
        ("gnarl_compiler.trace_cli", {"torch", "numpy", "scipy", "networkx"}),
        ("gnarl_compiler.trace_report", {"torch", "networkx"}),
        ("gnarl_runtime.checks.cli", {"torch", "numpy", "gymnasium", "pydantic"}),
        ("gnarl_runtime.evaluation.cli", {"torch", "numpy", "gymnasium", "pydantic"}),
        ("gnarl_runtime.evaluation.solve_cli", {"torch", "numpy", "gymnasium", "pydantic"}),
        ("gnarl_runtime.training.cli", {"torch", "numpy", "gymnasium"}),
    ],
)
def test_commands_start_light(module: str, forbidden: set[str]) -> None:
    code = f"import {module}, sys; print(' '.join(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not forbidden & set(run.stdout.split())


@pytest.mark.parametrize("imports", ["gnarl_runtime, gymnasium", "gymnasium, gnarl_runtime"])
def test_whoever_comes_second_the_environments_are_registered(imports: str) -> None:
    """Gymnasium is not imported for this alone, and does not notice that it was waited for."""
    code = (
        f"import {imports}, importlib.resources\n"
        "assert 'gnarl/BellmanFord-v0' in gymnasium.registry\n"
        "assert type(gymnasium.__spec__.loader).__module__.startswith('_frozen')\n"
        "assert importlib.resources.files('gymnasium').joinpath('__init__.py').is_file()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
