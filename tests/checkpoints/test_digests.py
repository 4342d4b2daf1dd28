"""Files that were damaged, changed or made up: noticed before anything is built from them."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save
from shipped_specs import shipped
from training_runs import command, same, tiny, weights

from gnarl_dsl.report.failures import Notice
from gnarl_runtime.checkpoints.arrays import CheckpointError, read_arrays, write_arrays
from gnarl_runtime.checkpoints.checkpoint import load_checkpoint, make_meta, save_checkpoint
from gnarl_runtime.commands.train import main
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.training.run_folder import RunError, RunFolder


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problem, recipe = shipped("bfs"), tiny()
    path = tmp_path_factory.mktemp("digests") / "own.safetensors"
    save_checkpoint(path, Policy(problem, recipe.policy), make_meta(problem, recipe, 0, 0, {}, {}))
    return path


@given(where=st.integers(0, 10**9), bit=st.integers(0, 7))
@settings(max_examples=200)
def test_a_flipped_bit_is_an_error_or_changes_nothing(
    checkpoint: Path, where: int, bit: int
) -> None:
    content = bytearray(checkpoint.read_bytes())
    content[where % len(content)] ^= 1 << bit
    damaged = checkpoint.with_name("damaged.safetensors")
    damaged.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Notice)  # the name of the digest itself was hit
            found = read_arrays(damaged)
    except CheckpointError:
        return
    arrays, text = read_arrays(checkpoint)
    assert same(found[0], arrays)
    assert found[1] == text


def test_a_file_without_a_digest_loads_with_a_notice(checkpoint: Path, tmp_path: Path) -> None:
    arrays, text = read_arrays(checkpoint)
    old = tmp_path / "old.safetensors"
    old.write_bytes(save(arrays, {"gnarl": text}))
    with pytest.warns(Notice, match="before files carried a digest"):
        assert same(weights(old), arrays)


def test_a_spec_that_means_something_else_is_told(checkpoint: Path, tmp_path: Path) -> None:
    arrays, text = read_arrays(checkpoint)
    other = tmp_path / "other.safetensors"
    write_arrays(other, arrays, json.dumps({**json.loads(text), "problem_hash": "0" * 16}))
    with pytest.warns(Notice, match="results may differ"):
        load_checkpoint(other)


@pytest.mark.parametrize(
    ("name", "value"),
    [("rounds", 10**6), ("rounds", 999), ("width", 10**7), ("width", 8_000), ("firsts", 8_000)],
)
def test_counts_are_compared_with_the_file_before_a_network_is_built(
    checkpoint: Path, tmp_path: Path, name: str, value: int
) -> None:
    arrays, text = read_arrays(checkpoint)
    told = json.loads(text)
    told["policy"][name] = value
    made_up = tmp_path / "made_up.safetensors"
    write_arrays(made_up, arrays, json.dumps(told))
    began = time.process_time()
    with pytest.raises(CheckpointError, match=f"says {name} = {value:,}|{name}: .* found {value}"):
        load_checkpoint(made_up)
    assert time.process_time() - began < 2


def test_an_unknown_processor_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    arrays, text = read_arrays(checkpoint)
    told = json.loads(text)
    told["policy"]["processor"] = "0x10"
    made_up = tmp_path / "made_up.safetensors"
    write_arrays(made_up, arrays, json.dumps(told))
    with pytest.raises(CheckpointError, match="processor: expected mpnn"):
        load_checkpoint(made_up)


def test_deep_descriptions_and_further_weights_are_refused(
    checkpoint: Path, tmp_path: Path
) -> None:
    arrays, text = read_arrays(checkpoint)
    odd = tmp_path / "odd.safetensors"
    write_arrays(odd, arrays, "[" * 100_000)
    with pytest.raises(CheckpointError, match="no JSON"):
        load_checkpoint(odd)
    write_arrays(odd, {**arrays, "guest": np.zeros(3)}, text)
    with pytest.raises(CheckpointError, match="guest"):
        load_checkpoint(odd)


def test_weights_that_are_not_finite_are_no_policy(checkpoint: Path, tmp_path: Path) -> None:
    arrays, text = read_arrays(checkpoint)
    name = min(arrays)
    values = arrays[name].copy()
    values.reshape(-1)[0] = np.nan
    broken = tmp_path / "broken.safetensors"
    write_arrays(broken, {**arrays, name: values}, text)
    with pytest.raises(CheckpointError, match="not finite"):
        load_checkpoint(broken)


# Run folders


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "bfs"
    assert main([*command(out)[3:], "--set", "bc.updates=6"]) == 0
    return out


def test_a_changed_config_is_noticed(finished: Path, tmp_path: Path) -> None:
    text = (finished / "config.json").read_text("utf-8")
    copy = RunFolder(tmp_path)
    (tmp_path / "config.json").write_text(text.replace('"seed": 0', '"seed": 1'), "utf-8")
    with pytest.raises(RunError, match="does not match its digest"):
        copy.config()
    old = {name: value for name, value in json.loads(text).items() if name != "digest"}
    (tmp_path / "config.json").write_text(json.dumps(old), "utf-8")
    with pytest.warns(Notice, match="before files carried a digest"):
        assert copy.config().seed == 0
    (tmp_path / "config.json").write_text(json.dumps({**old, "version": 7}), "utf-8")
    with pytest.raises(RunError, match="version 1, found 7"):
        copy.config()


def test_a_damaged_state_does_not_go_on(finished: Path, tmp_path: Path) -> None:
    content = bytearray((finished / "state.safetensors").read_bytes())
    content[-5] ^= 1
    (tmp_path / "state.safetensors").write_bytes(content)
    with pytest.raises(RunError, match="does not match its digest"):
        RunFolder(tmp_path).load_state()


@pytest.mark.parametrize("trainer", ["bc", "ppo"])
def test_training_that_comes_apart_stops_and_keeps_nothing(
    trainer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    more = ["--set", f"trainer={trainer}", "--set", f"{trainer}.lr=1e30"]
    assert main([*command(out)[3:], *more]) == 1
    told = capsys.readouterr().err
    assert "not finite after update" in told
    assert f"{trainer}.lr = 1e+30" in told
    for file in out.glob("*.safetensors"):
        assert all(np.isfinite(values).all() for values in weights(file).values()), file
