"""Nothing in, findings about this machine and installation out."""

from __future__ import annotations

import os
import platform
import stat
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec as find_module
from pathlib import Path

from gnarl_dsl import __version__
from gnarl_dsl.externs import GROUPS, points
from gnarl_dsl.specs import shipped_specs, specs_folder
from gnarl_runtime.checkpoints.provenance import cpu_model, package_version
from gnarl_runtime.doctor.looks import Finding, State

PACKAGES = (
    *("torch", "torch-geometric", "numpy", "numba", "scipy", "gymnasium", "networkx"),
    *("pydantic", "lark", "matplotlib", "safetensors", "rich"),
)
# extra: the module that shows it is there, and what it is for
EXTRAS = {
    "lsp": ("pygls", "the language server gnarl-lsp"),
    "docs": ("mkdocs", "the documentation site"),
    "dev": ("hypothesis", "property tests, also in gnarl_dsl.testing"),
}
OWN_CACHE = "set GNARL_CACHE to a folder of your own"


def versions() -> Iterator[Finding]:
    place = Path(__file__).parents[1]
    yield Finding("gnarl-dsl", f"{__version__} in {place}")
    yield Finding("python", f"{platform.python_version()} on {platform.platform()}")
    for name in PACKAGES:
        found = package_version(name)
        if found == "none":
            fix = "pip install gnarl-dsl, in the environment that runs this command"
            yield Finding(name, "not installed", State.BROKEN, fix)
        else:
            yield Finding(name, found)


def extras() -> Iterator[Finding]:
    for extra, (module, use) in EXTRAS.items():
        there = find_module(module) is not None
        text = f"{module.replace('_', '-')} {'is' if there else 'is not'} there: {use}"
        fix = "" if there else f"if wanted: pip install 'gnarl-dsl[{extra}]'"
        yield Finding(f"extra {extra}", text, State.OK, fix)


def externs() -> Iterator[Finding]:
    """What installed packages say they have; none of it is imported."""
    found = [(trade, point) for trade in GROUPS for point in points(trade)]
    for trade, point in found:
        package = "nobody knows where" if point.dist is None else str(point.dist.name)
        yield Finding("extern", f"{trade.value} {point.name} from {package} ({point.value})")
    if not found:
        yield Finding("externs", "no installed package brings any (docs/extern.md)")


def specs() -> Iterator[Finding]:
    found = shipped_specs()
    if found:
        yield Finding("specs", f"{len(found)} in {specs_folder()}")
    else:
        fix = "install gnarl-dsl again; its data files are missing"
        yield Finding("specs", f"none in {specs_folder()}", State.BROKEN, fix)


# Where compiled code is kept


def cache() -> Iterator[Finding]:
    from gnarl_compiler.build.cache import cache_folder

    folder = cache_folder()
    nearest = next(part for part in (folder, *folder.parents) if part.exists())
    if not nearest.is_dir():
        yield Finding("cache", f"{nearest} is a file", State.BROKEN, f"move it, or {OWN_CACHE}")
        return
    reason = unwritable(nearest)
    if reason:
        fix = f"chmod u+rwx {nearest}, or {OWN_CACHE}"
        yield Finding("cache", f"{folder} cannot be written: {reason}", State.BROKEN, fix)
        return
    yield from (
        _shared(folder)
        if folder.exists()
        else [Finding("cache", f"{folder}, will be made on first use")]
    )


def unwritable(folder: Path) -> str:
    """Why no file can be written in a folder, or nothing; root may write where modes say no."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x" * 4096)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _shared(folder: Path) -> Iterator[Finding]:
    """Code is run from there, so nobody else should be able to put some in."""
    found = folder.stat()
    mode = stat.S_IMODE(found.st_mode)
    kept = sum(1 for _ in folder.glob("gnarl_*.py"))
    text = f"{folder}, mode {mode:o}, {kept} compiled specs"
    open_to_others = mode & (stat.S_IWGRP | stat.S_IWOTH)
    if found.st_uid == os.getuid() and not open_to_others:
        yield Finding("cache", text)
        return
    fix = f"chmod 700 {folder}, or {OWN_CACHE}"
    yield Finding("cache", f"{text}; others can write there", State.NOTE, fix)


# Who computes


def compiler() -> Iterator[Finding]:
    from gnarl_runtime.network.fused.message_build import BuildError, find_compiler

    try:
        yield Finding("C compiler", str(find_compiler()))
    except BuildError as error:
        fix = "install gcc or clang, or set CC; until then training is some times slower"
        yield Finding("C compiler", str(error), State.NOTE, fix)


def kernel() -> Iterator[Finding]:
    """Which message kernel policies will use on a CPU, and why."""
    from gnarl_runtime.network.fused.kernel_library import library
    from gnarl_runtime.network.fused.message_build import usable_variants
    from gnarl_runtime.network.messages import VARIABLE, requested_kernel

    asked = requested_kernel()
    if asked == "torch":
        yield Finding("kernel", f"torch, because {VARIABLE}=torch", State.OK, f"unset {VARIABLE}")
        return
    found = library()
    if not isinstance(found, str):
        yield Finding("kernel", f"fused, {usable_variants()[0].name}")
    elif asked == "fused":
        text = f"none: {VARIABLE}=fused, but {found}"
        yield Finding("kernel", text, State.BROKEN, f"unset {VARIABLE}, or see C compiler, cache")
    else:
        yield Finding("kernel", f"torch, because {found}", State.NOTE, "see C compiler and cache")


def threads() -> Iterator[Finding]:
    import numba
    import torch

    cores = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS")
    said = f", OMP_NUM_THREADS={limit}" if limit else ""
    text = f"torch {torch.get_num_threads()}, numba {numba.get_num_threads()}{said}"
    yield Finding("threads", f"{text}; {cores} cores, {cpu_model()}; commands use --threads")


def device() -> Iterator[Finding]:
    import torch

    if torch.cuda.is_available():
        name = torch.cuda.get_device_name(0)
        yield Finding("device", f"cpu by default; --device cuda works here ({name})")
    else:
        yield Finding("device", "cpu (torch finds no CUDA device)")
