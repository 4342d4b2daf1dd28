"""benchmarks/studies/networks.py: files of edges in, a table of what new edges gain out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies import networks

# A ring of six, a chord that is named twice, a loop, and a part of its own.
NETWORK = "a b\nb c\nc d\nd e\ne f\nf a\na d\nd a\nb b\nx y\n"


@pytest.fixture
def unpinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "pin_to_one_core", lambda: 0)  # NumPy is loaded here


@pytest.mark.usefixtures("unpinned")
def test_the_largest_part_is_played_by_all_and_written_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ring.edges"
    file.write_text(NETWORK, "utf-8")
    assert networks.main([str(file), "--output", str(tmp_path / "out")]) == 0
    rows = json.loads((tmp_path / "out" / "networks.json").read_text("utf-8"))["rows"]
    played = [(row["removal"], row["player"]) for row in rows]
    assert played == [
        (removal, player)
        for removal in ("random", "targeted")
        for player in ("policy", "lowest", "random")
    ]
    assert {(row["nodes"], row["edges"], row["new_edges"]) for row in rows} == {(6, 7, 3)}
    assert all(0 <= row["robustness"] <= 1 for row in rows)
    assert "| ring | 6 | 7 | random | policy | 3 |" in capsys.readouterr().out


@pytest.mark.usefixtures("unpinned")
def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "nowhere.edges"
    assert networks.main([str(missing), "--output", str(tmp_path)]) == 2
    assert str(missing) in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("unpinned")
def test_a_file_without_edges_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.edges"
    empty.write_text("# nothing here\n", "utf-8")
    assert networks.main([str(empty), "--output", str(tmp_path / "out")]) == 1
    assert f"{empty}: expected two names per line" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
