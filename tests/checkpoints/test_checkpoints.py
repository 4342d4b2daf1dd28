"""Checkpoints: what they bring, and what is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped_specs import shipped
from training_runs import same, tiny, weights

from gnarl_runtime.checkpoints.arrays import CheckpointError, read_arrays, write_arrays
from gnarl_runtime.checkpoints.checkpoint import load_checkpoint, make_meta, save_checkpoint
from gnarl_runtime.network.policy import Policy


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    problem, recipe = shipped("tsp_insertion"), tiny()
    path = tmp_path / "own.safetensors"
    policy = Policy(problem, recipe.policy)
    save_checkpoint(path, policy, make_meta(problem, recipe, 0, 0, {}, {}))
    return path


def test_a_checkpoint_brings_its_spec(checkpoint: Path) -> None:
    loaded = load_checkpoint(checkpoint)
    assert loaded.problem.hash == shipped("tsp_insertion").hash
    names = [source.name for source in loaded.problem.sources]
    assert names == ["tsp_insertion.gnarl", "tsp.gnarl"]
    assert same({k: v.numpy() for k, v in loaded.policy.state_dict().items()}, weights(checkpoint))


def test_damaged_and_foreign_files_are_refused(checkpoint: Path, tmp_path: Path) -> None:
    whole = checkpoint.read_bytes()
    arrays, text = read_arrays(checkpoint)
    broken = tmp_path / "broken.safetensors"
    cases: list[tuple[bytes | None, str]] = [
        (whole[: len(whole) // 2], "damaged or no checkpoint"),
        (b"", "damaged or no checkpoint"),
        (b"\x80\x04pickled", "damaged or no checkpoint"),
        (whole.replace(b'\\"version', b'\\"Version'), "does not match its digest"),
    ]
    for content, what in cases:
        broken.write_bytes(content or b"")
        with pytest.raises(CheckpointError, match=what):
            load_checkpoint(broken)
    write_arrays(broken, arrays, text.replace('"version"', '"Version"'))
    with pytest.raises(CheckpointError, match="expected a checkpoint of version"):
        load_checkpoint(broken)
    name = next(name for name, values in arrays.items() if values.ndim == 2)
    write_arrays(broken, {**arrays, name: arrays[name][..., :1].copy()}, text)
    with pytest.raises(CheckpointError, match="another policy"):
        load_checkpoint(broken)
    told = json.loads(text)
    told["spec"][0]["text"] = "gnarl 1\nproblem x\n"
    write_arrays(broken, arrays, json.dumps(told))
    with pytest.raises(CheckpointError, match="mistakes"):
        load_checkpoint(broken)
    with pytest.raises(CheckpointError, match="there is no file"):
        load_checkpoint(tmp_path / "nothing.safetensors")


@given(st.integers(0, 10**9), st.integers(1, 255))
def test_no_damage_gets_through_as_anything_but_an_error(where: int, change: int) -> None:
    """One byte of the header changed: it loads to the same weights, or is refused by name."""
    content = bytearray(_small_checkpoint())
    size = 8 + int.from_bytes(content[:8], "little")
    content[where % size] ^= change
    path = Path(_scratch()) / "damaged.safetensors"
    path.write_bytes(content)
    with suppress(CheckpointError):
        load_checkpoint(path)


def _scratch() -> str:
    import tempfile

    return tempfile.mkdtemp()


_KEPT: list[bytes] = []


def _small_checkpoint() -> bytes:
    if not _KEPT:
        problem, recipe = shipped("bfs"), tiny()
        path = Path(_scratch()) / "small.safetensors"
        meta = make_meta(problem, recipe, 0, 0, {}, {})
        save_checkpoint(path, Policy(problem, recipe.policy), meta)
        _KEPT.append(path.read_bytes())
    return _KEPT[0]
