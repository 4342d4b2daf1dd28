"""C source in the package in, a loaded library out: compiled on first use, for this processor.

The library lies in a folder that only its owner may enter, under a name that covers source,
compiler and flags. It is written under another name and moved into place, so that two
processes that compile at once do not meet. It never leaves the machine, but neither does it
rely on that: each instruction set has flags of its own, chosen by what the processor reports.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from gnarl_compiler.build.cache import CacheError, make_private, private_cache

HEADERS = ("vectors.h", "tiles.h", "network.h", "plain_sum.h", "rows.h", "winners.h")
UNITS = ("hear.c", "backward.c", "finish.c", "products.c", "pooled.c")
COMPILERS = ("cc", "gcc", "clang")
COMMON_FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared", "-ffp-contract=fast")
LIBRARIES = ("-lm", "-pthread")
TIMEOUT = 120  # seconds; compiling takes about one


class BuildError(Exception):
    """Why there is no library, in words for the user."""


@dataclass(frozen=True)
class Variant:
    """An instruction set: what the processor must offer, and how to compile for it."""

    name: str
    needs: frozenset[str]  # names of /proc/cpuinfo
    flags: tuple[str, ...]


VARIANTS = (  # best first
    Variant(
        "avx512",
        frozenset({"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx2", "fma"}),
        (
            *("-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mavx2", "-mfma"),
            "-mprefer-vector-width=512",
        ),
    ),
    Variant("avx2", frozenset({"avx2", "fma"}), ("-mavx2", "-mfma")),
    Variant("plain", frozenset(), ()),
)


def processor_features(path: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """What the processor reports; nothing where there is no such file."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError:
        return frozenset()
    flags = next((line for line in lines if line.startswith("flags")), ":")
    return frozenset(flags.split(":", 1)[1].split())


def usable_variants() -> tuple[Variant, ...]:
    """The variants that this processor can run, best first."""
    features = processor_features()
    return tuple(variant for variant in VARIANTS if variant.needs <= features)


def load_library(variant: Variant, folder: Path | None = None) -> ctypes.CDLL:
    """The compiled kernel, from the cache if it is there."""
    sources = _sources()
    compiler = find_compiler()
    place = _private_folder(folder)
    path = place / f"messages_{variant.name}_{_key(sources, compiler, variant)}.so"
    if not path.exists():
        _compile(sources, compiler, variant, path)
    try:
        return ctypes.CDLL(str(path))
    except OSError:  # damaged: the disk was full, or the file was cut off
        _compile(sources, compiler, variant, path)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise BuildError(f"the compiled message kernel cannot be loaded: {error}") from None


def _sources() -> dict[str, bytes]:
    folder = files("gnarl_runtime.network.fused").joinpath("kernels_c")
    return {name: folder.joinpath(name).read_bytes() for name in (*HEADERS, *UNITS)}


def find_compiler() -> Path:
    """The C compiler: what `CC` names, or the first usual one on the path."""
    own = os.environ.get("CC", "").split()
    for name in own[:1] or COMPILERS:
        if found := shutil.which(name):
            return Path(found).resolve()
    looked = own[0] if own else ", ".join(COMPILERS)
    raise BuildError(f"there is no C compiler (looked for {looked})")


def _private_folder(folder: Path | None) -> Path:
    """A folder that nobody else can put a library into: the one given, or the usual one."""
    if folder is None:
        return private_cache("kernels")
    try:
        return make_private(folder)
    except CacheError as error:
        raise BuildError(str(error)) from None


def _key(sources: dict[str, bytes], compiler: Path, variant: Variant) -> str:
    """Changes with the source, the compiler (by place, size and date) and the flags."""
    program = compiler.stat()
    parts = (compiler, program.st_size, program.st_mtime_ns, platform.machine())
    text = " ".join([*map(str, parts), *COMMON_FLAGS, *variant.flags])
    whole = b"".join([*sources.values(), text.encode()])
    return hashlib.blake2b(whole, digest_size=8).hexdigest()


def _compile(sources: dict[str, bytes], compiler: Path, variant: Variant, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".build-") as room:
        library, units = Path(room, "messages.so"), [Path(room, name) for name in UNITS]
        for name, text in sources.items():
            Path(room, name).write_bytes(text)
        paths = [*map(str, units), "-o", str(library), *LIBRARIES]
        command = [str(compiler), *COMMON_FLAGS, *variant.flags, *paths]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BuildError(f"{compiler} did not run: {error}") from None
        if run.returncode:
            first = (run.stderr.strip().splitlines() or ["no message"])[0]
            raise BuildError(f"{compiler} could not compile the message kernel: {first}")
        os.replace(library, path)
