"""Checkpoints and run folders of 0.1 still load, think, play and go on as they did.

Networks may round differently on another machine or with another torch: scores are compared to
1e-5, weights after a few updates to 1e-6.
"""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import numpy as np
from old_files import OLD, ask_plainly, differences, recorded
from safetensors.numpy import load_file

RUNS = ("bfs_bc", "mvc_ppo")
PLAYED = ("scores", "evaluations", "solutions")
QUESTION = {"scores": "scores", "evaluations": "evaluation", "solutions": "solutions"}


def test_policies_think_play_and_train_as_they_did(tmp_path: Path) -> None:
    """One test, because torch is loaded once for all of it."""
    copies = [copytree(OLD / "run_folders" / f"{name}_half", tmp_path / name) for name in RUNS]
    known = [(file, *entry) for file in PLAYED for entry in recorded(file)]
    resumed = [("resumed", {"folder": str(copy)}) for copy in copies]
    found = ask_plainly([*((QUESTION[file], asked) for file, asked, _ in known), *resumed])
    for (_, asked, answer), now in zip(known, found[: len(known)], strict=True):
        assert (asked, differences(answer, now, near=1e-5)) == (asked, [])
    for name, copy, now in zip(RUNS, copies, found[len(known) :], strict=True):
        assert now["exit"] == 0, now["told"]
        assert_same_weights(OLD / "run_folders" / name, copy)


def assert_same_weights(wanted_run: Path, found_run: Path) -> None:
    """The run that was stopped ended like the one that was not."""
    wanted, found = (load_file(run / "last.safetensors") for run in (wanted_run, found_run))
    assert wanted.keys() == found.keys()
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-6, err_msg=name)
