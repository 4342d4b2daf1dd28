"""Named arrays and a text in, one file out, whole and with a digest; and back."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from gnarl_compiler.build.files import write_whole
from gnarl_dsl.report.failures import Failure, Notice

Arrays = dict[str, NDArray[Any]]

_TEXT, _DIGEST = "gnarl", "sha256"


class CheckpointError(Failure, ValueError):
    """A file that is not there, is damaged, is no checkpoint, or does not fit."""


def write_arrays(path: Path, arrays: Arrays, text: str) -> None:
    """Arrays and a text in one file, whole or not at all."""
    write_whole(path, save(arrays, {_TEXT: text, _DIGEST: digest_of(arrays, text)}))


def read_arrays(path: Path) -> tuple[Arrays, str]:
    """What `write_arrays` wrote; a file of an older version has no digest and brings a notice."""
    if not path.is_file():
        raise CheckpointError(f"there is no file {path}")
    try:
        with safe_open(path, "numpy") as file:
            about = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path} is damaged or no checkpoint: {error}") from None
    if _TEXT not in about:
        raise CheckpointError(f"{path} is a safetensors file, but not one of ours")
    text = about[_TEXT]
    if _DIGEST not in about:
        told = f"{path} was written before files carried a digest: damage would not be noticed"
        warnings.warn(told, Notice, stacklevel=2)
    elif about[_DIGEST] != digest_of(arrays, text):
        raise CheckpointError(
            f"{path} is damaged: its content does not match its digest; copy it again, or go back "
            "to an earlier file"
        )
    return arrays, text


def digest_of(arrays: Mapping[str, NDArray[Any]], text: str) -> str:
    """One number for names, types, shapes and values, and for the text."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        values = np.ascontiguousarray(arrays[name])
        digest.update(f"|{name}|{values.dtype.str}|{values.shape}|".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


def first_non_finite(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """The name of an array that holds nan or inf, if there is one."""
    for name, values in arrays.items():
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            return name
    return None


def prefixed(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """The same arrays under longer names."""
    return {f"{prefix}.{name}": np.asarray(value) for name, value in arrays.items()}


def under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """The arrays whose name starts with a prefix, without it."""
    start = f"{prefix}."
    return {name[len(start) :]: value for name, value in arrays.items() if name.startswith(start)}
