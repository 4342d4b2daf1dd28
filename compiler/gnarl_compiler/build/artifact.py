"""Module text in, importable module out: written once under a name that carries its hash.

Numba keeps machine code beside the file it came from and does not notice changes in files
that file imports, so the name covers the text, the helpers and the versions.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module as import_package
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from gnarl_compiler import support
from gnarl_compiler.build.files import write_module
from gnarl_compiler.build.generate import generate
from gnarl_compiler.emit.abi import Abi, read_abi
from gnarl_compiler.passes.pruning import EVERYTHING, Mode
from gnarl_dsl.language import operators
from gnarl_dsl.model import Problem


@dataclass(frozen=True)
class Artifact:
    """Generated code and where it lives."""

    text: str
    path: Path
    module: ModuleType

    @cached_property
    def abi(self) -> Abi:
        """What callers of the kernels have to know."""
        return read_abi(self.module.ABI)

    def kernel(self, name: str) -> Any:
        return getattr(self.module, name)


def cache_folder() -> Path:
    """`$GNARL_CACHE`, or `gnarl` in the user's cache folder."""
    own = os.environ.get("GNARL_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(own) if own else base / "gnarl"


@cache
def helper_modules() -> tuple[ModuleType, ...]:
    """The modules of the functions that generated code calls."""
    names = sorted(entry.name for entry in iter_modules(support.__path__))
    return tuple(import_package(f"{support.__name__}.{name}") for name in names)


@cache
def toolchain_hash() -> str:
    """What besides the module's text decides the machine code."""
    import numba
    import numpy

    # Compiled helpers have the tolerances of the language in them.
    modules = (*helper_modules(), operators)
    helpers = b"".join(Path(str(module.__file__)).read_bytes() for module in modules)
    versions = f"{sys.version}|{platform.machine()}|{numba.__version__}|{numpy.__version__}"
    return hashlib.blake2b(helpers + versions.encode(), digest_size=8).hexdigest()


def generate_code(problem: Problem, reward: str | None = None, mode: Mode = EVERYTHING) -> str:
    """The module text of a problem."""
    return generate(problem, reward, mode).python


def compile_problem(
    problem: Problem, reward: str | None = None, mode: Mode = EVERYTHING, folder: Path | None = None
) -> Artifact:
    """Generate, write if new, and import the kernels of a problem."""
    text = generate_code(problem, reward, mode)
    key = hashlib.blake2b((text + toolchain_hash()).encode(), digest_size=8).hexdigest()
    path = write_module(text, folder or cache_folder(), f"gnarl_{problem.name}_{key}")
    return Artifact(text, path, import_module(path))


def import_module(path: Path) -> ModuleType:
    """The module in a file, imported once per process under its own unique name."""
    name = path.stem
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
