"""Module text in, importable module out: written once under a name that carries its hash.

Numba keeps machine code beside the file it came from and does not notice changes in files
that file imports, so the name covers the text, the helpers and the versions.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version as importlib_version
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from gnarl_compiler import algorithms, support
from gnarl_compiler.build.cache import private_cache
from gnarl_compiler.build.files import keep_module
from gnarl_compiler.build.generate import generate
from gnarl_compiler.emit.abi import Abi, read_abi
from gnarl_compiler.externs.find import code_hash, compiled_twin, twins_of
from gnarl_compiler.passes.pruning import EVERYTHING, Mode
from gnarl_compiler.support.jit import COMPILED, WANTED
from gnarl_compiler.support.unkept import tell_uncompiled
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


def helper_files() -> tuple[Path, ...]:
    """The files of the functions that generated code calls: helpers, and twins of algorithms."""
    rooms = (Path(room.__path__[0]) for room in (support, algorithms))
    return tuple(path for room in rooms for path in sorted(room.rglob("*.py")))


@cache
def toolchain_hash() -> str:
    """What besides the module's text decides the machine code."""
    import numpy

    compiler = importlib_version("numba") if COMPILED else "none"

    # Compiled helpers have the tolerances of the language in them.
    files = (*helper_files(), Path(str(operators.__file__)))
    helpers = b"".join(path.read_bytes() for path in files)
    versions = f"{sys.version}|{platform.machine()}|{compiler}|{numpy.__version__}"
    return hashlib.blake2b(helpers + versions.encode(), digest_size=8).hexdigest()


def generate_code(problem: Problem, reward: str | None = None, mode: Mode = EVERYTHING) -> str:
    """The module text of a problem."""
    return generate(problem, reward, mode).python


def compile_problem(
    problem: Problem, reward: str | None = None, mode: Mode = EVERYTHING, folder: Path | None = None
) -> Artifact:
    """Generate, write if new, and import the kernels of a problem."""
    if WANTED and not COMPILED:
        tell_uncompiled()
    text = generate_code(problem, reward, mode)
    twins = twins_of(problem)
    content = (
        text + toolchain_hash() + "".join(f"|{name} {code_hash(it)}" for name, it in twins.items())
    )
    key = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    path = keep_module(text, folder or private_cache(), f"gnarl_{problem.name}_{key}")
    compiled = {name: compiled_twin(it) for name, it in twins.items()}
    return Artifact(text, path, import_module(path, text, compiled))


def import_module(
    path: Path, text: str, externs: Mapping[str, Callable[..., Any]] = MappingProxyType({})
) -> ModuleType:
    """The module of a text, imported once per process under its own unique name.

    The text is run, not the file, and no bytecode is kept beside it: the file is where Numba
    looks for the machine code that belongs to it, and where a person reads what was generated.
    """
    name = path.stem
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name, "Generated kernels.")
    module.__file__ = str(path)
    if externs:
        vars(module)["EXTERNS"] = externs
    sys.modules[name] = module
    try:
        exec(compile(text, str(path), "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return module
