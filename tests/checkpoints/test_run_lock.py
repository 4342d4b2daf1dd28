"""One process writes to a run folder; what was stopped before it began blocks nothing."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from training_runs import command, same, weights

from gnarl_runtime.commands.train import main
from gnarl_runtime.training.run_folder import RunFolder, may_begin
from gnarl_runtime.training.run_lock import LOCK, RunIsBusy, RunLock, is_free

Capture = pytest.CaptureFixture[str]
LONG = ("--set", "bc.updates=100000")


def training(out: Path) -> subprocess.Popen[str]:
    """A run that is at work, in another process."""
    process = subprocess.Popen(command(out, *LONG), stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not (out / "best.safetensors").exists() and time.monotonic() < until:
        assert process.poll() is None
        time.sleep(0.05)
    return process


def test_a_second_process_is_told_and_a_killed_one_holds_nothing(
    tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "run"
    process = training(out)
    try:
        assert main(["--resume", str(out)]) == 2
        told = capsys.readouterr().err
        assert f"{out} is being written to by process {process.pid}" in told
        assert main(command(out)[3:]) == 2
    finally:
        process.kill()
        process.communicate()
    assert (out / LOCK).exists()  # what was left behind locks nothing
    assert is_free(out)
    with RunFolder(out).held():
        pass


def test_a_lock_is_of_one_training(tmp_path: Path) -> None:
    first, second = RunLock(tmp_path), RunLock(tmp_path)
    first.take()
    with pytest.raises(RunIsBusy):
        second.take()
    first.drop(remove=True)
    second.take()
    second.drop(remove=True)
    assert not list(tmp_path.iterdir())


def test_what_was_stopped_before_it_began_is_begun_anew(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert main(command(out)[3:]) == 0
    whole = weights(out / "last.safetensors")
    assert not (out / LOCK).exists()
    for item in ("best", "last", "state"):
        (out / f"{item}.safetensors").unlink()
    for item in ("verdict.json", "curves.png"):
        (out / item).unlink()
    assert not may_begin(out)  # nobody says that nothing came of it
    (out / LOCK).touch()
    assert main(command(out)[3:]) == 0
    assert same(weights(out / "last.safetensors"), whole)


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "project"
    (out / "spec").mkdir(parents=True)
    (out / "spec" / "mine.gnarl").write_text("mine", "utf-8")
    assert main(command(out)[3:]) == 2
    assert [path.name for path in out.iterdir()] == ["spec"]


def test_a_full_disk_names_the_file_and_how_to_go_on(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk that is full."""
    whole, full = tmp_path / "whole", tmp_path / "full"
    assert main(command(whole)[3:]) == 0
    small = (whole / "state.safetensors").stat().st_size // 2
    assert (whole / "best.safetensors").stat().st_size < small

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (small, small))

    run = subprocess.run(command(full), capture_output=True, text=True, preexec_fn=limit)
    assert run.returncode == 2, run.stderr
    assert f"{full / 'state.safetensors'}: File too large" in run.stderr
    assert f"go on with: gnarl-train --resume {full}" in run.stderr
    assert not [item for item in os.listdir(full) if item.endswith(".tmp")]
    assert main(["--resume", str(full)]) == 0
    assert same(weights(full / "last.safetensors"), weights(whole / "last.safetensors"))
