"""benchmarks/studies/tsplib.py: a folder of files in, a table of gaps out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies import tsplib

SQUARE = """NAME : square
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 100
3 100 100
4 100 0
EOF
"""


def test_a_square_is_solved_and_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tsplib, "pin_to_one_core", lambda: 0)  # NumPy is loaded here
    (tmp_path / "square.tsp").write_text(SQUARE, "utf-8")
    (tmp_path / "unknown.tsp").write_text(SQUARE, "utf-8")
    (tmp_path / "optima.json").write_text('{"square": 400}', "utf-8")
    assert tsplib.main([str(tmp_path), "--output", str(tmp_path / "out")]) == 0
    (row,) = json.loads((tmp_path / "out" / "tsplib.json").read_text("utf-8"))["rows"]
    assert (row["instance"], row["nodes"]) == ("square", 4)
    assert row["length"] in (400, 482)  # around, or along both diagonals
    assert row["excess"] == pytest.approx(100 * (row["length"] / 400 - 1))
    assert "| square | 4 | 400 |" in capsys.readouterr().out
    asked = [str(tmp_path), "--output", str(tmp_path / "out"), "--search", "work:50"]
    assert tsplib.main(asked) == 0
    (searched,) = json.loads((tmp_path / "out" / "tsplib.json").read_text("utf-8"))["rows"]
    assert searched["length"] == row["length"]  # not played again
    assert searched["searched"]["length"] == 400
    assert "| mean of 1 |" in capsys.readouterr().out


def test_a_folder_without_instances_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tsplib, "pin_to_one_core", lambda: 0)
    assert tsplib.main([str(tmp_path)]) == 1
    assert str(tmp_path) in capsys.readouterr().err
