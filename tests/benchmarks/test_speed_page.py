"""The page of speed: what was measured, with its command, and what was not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import gnarl_dsl as gnarl
from benchmarks.speed_page import threads
from benchmarks.speed_page.__main__ import PARTS, main, shown
from benchmarks.speed_page.decisions import instance_at, length
from gnarl_runtime.instances.pools import pool_of


def test_the_page_says_what_was_not_measured(tmp_path: Path) -> None:
    records, output = tmp_path / "records", tmp_path / "out"
    records.mkdir()
    source = {"cpu": "some CPU", "cores": 2, "load": [[0.1], [0.2]]}
    command = [
        "python",
        "-m",
        "benchmarks.speed_page.threads",
        "--output",
        "/somewhere/threads.json",
    ]
    row = {"nodes": 200, "one_ms": 3.0, "more_ms": 2.0, "fastest_ms": [3.0, 2.0]}
    record = {"provenance": {**source, "command": command}, "threads": 2, "rows": [row]}
    (records / "threads.json").write_text(json.dumps(record), "utf-8")
    assert main(["--only", "--records", str(records), "--output", str(output)]) == 0
    text = (output / "speed.md").read_text("utf-8")
    assert "    python -m benchmarks.speed_page.threads\n" in text
    assert "1.50x" in text
    assert text.count("Not measured yet") == len(PARTS) - 1
    assert json.loads((output / "speed.json").read_text("utf-8"))["threads"]["threads"] == 2


def test_commands_are_shown_without_what_belongs_to_a_machine() -> None:
    given = "python -m x --others /a/b --weights /c/d.pt --output /e --sizes 20x4"
    assert shown(given) == "python -m x --weights build/peers/am.pt --sizes 20x4"


def test_points_become_our_instances() -> None:
    places = np.random.default_rng(0).random((6, 2)).astype(np.float32)
    problem = gnarl.load("tsp")
    (instance,) = pool_of(problem, [instance_at(problem, places)]).instances()
    tour = np.arange(6)
    matrix = instance.inputs["A"]
    assert np.isclose(matrix[tour, np.roll(tour, -1)].sum(), length(tour, places))


def test_scores_have_the_same_bits_with_a_second_thread() -> None:
    options = threads.parse_options(["--nodes", "100", "--seconds", "0", "--rounds", "1"])
    assert threads.measured(100, options)["same_bits"]
