"""benchmarks/paper: weights are found on the machine or among the shipped ones, or made."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import pytest
from paper_cases import QUICK, TABLE, places_in

from benchmarks.machine import commit
from benchmarks.paper.outcomes import Places, Stopped, read_training, run_name
from benchmarks.paper.record import outcomes_of
from benchmarks.paper.runs import Budget, run_row
from benchmarks.paper.tables import TABLES
from benchmarks.paper.weights import digest, read_manifest, take_weights, write_manifest
from gnarl_dsl import load
from gnarl_runtime.checkpoints.pretrained import find_pretrained

ROW = TABLE.rows[0]
MANIFEST = read_manifest(Places.manifest)


def test_a_finished_run_is_in_the_manifest(places: Places) -> None:
    manifest = read_manifest(places.manifest)
    assert list(manifest) == ["tiny-seed0", "tiny-seed1"]
    kept, weights = manifest["tiny-seed1"], places.kept(ROW, 1) / "best.safetensors"
    assert kept.sha256 == digest(weights)
    assert (kept.shipped, kept.recipe, kept.seed) == (None, "bfs", 1)
    assert kept.spec_hash == load("bfs").hash
    assert kept.training == read_training(places.run(ROW, 1))
    assert kept.training.commit == commit()
    assert shlex.join(kept.training.command).startswith("gnarl-train --spec bfs --recipe bfs")


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_manifest(tmp_path / "weights.toml", MANIFEST)
    assert read_manifest(tmp_path / "weights.toml") == MANIFEST
    assert (tmp_path / "weights.toml").read_bytes() == Places.manifest.read_bytes()


def test_the_file_is_enough_where_the_manifest_knows_it(places: Places) -> None:
    before = outcomes_of(TABLE, places)["tiny"][0]
    (places.kept(ROW, 0) / "finished.json").unlink()
    rmtree(places.runs)
    take_weights(ROW, 0, places)
    assert read_training(places.run(ROW, 0)) == before.training


def test_a_file_of_another_run_is_refused(places: Places) -> None:
    rmtree(places.runs)
    first, second = (places.kept(ROW, seed) / "best.safetensors" for seed in (0, 1))
    first.write_bytes(second.read_bytes())
    told = rf"{first} has the digest {digest(second)[:12]}…, .*delete its folder.*--again"
    with pytest.raises(Stopped, match=told):
        run_row(ROW, Budget(seeds=1, graphs=2), places)
    assert not places.runs.exists()
    run_row(ROW, Budget(seeds=1, graphs=2, again=True), places)  # made anew, and in the manifest
    assert read_manifest(places.manifest)["tiny-seed0"].sha256 == digest(first)


def test_lost_weights_are_made_anew(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    rmtree(places.runs)
    rmtree(places.weights)
    take_weights(ROW, 0, places)
    told = f"tiny-seed0: its weights are neither in {places.kept(ROW, 0)} nor shipped"
    assert told in capsys.readouterr().err
    assert not places.runs.exists()


def test_a_row_that_is_made_in_another_way_now_has_no_weights(places: Places) -> None:
    rmtree(places.runs)
    take_weights(replace(ROW, options=(*QUICK, "--set", "bc.lr=0.1")), 0, places)
    assert not places.runs.exists()


def test_missing_weights_to_begin_with_are_named(tmp_path: Path) -> None:
    start = tmp_path / "weights" / "tiny-seed3"
    row = replace(ROW, name="longer", options=(*QUICK, "--from", str(start)))
    told = f"longer begins with the weights of tiny-seed3, .* {start.parent}; .*tiny --seed 3"
    with pytest.raises(Stopped, match=told):
        run_row(row, Budget(seeds=1), places_in(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "told"),
    [("[", "is no TOML"), ("a = 1", "has another shape"), ("[a-seed0]", "has another shape")],
)
def test_a_damaged_manifest_is_named(text: str, told: str, places: Places) -> None:
    places.manifest.write_text(text, "utf-8")
    with pytest.raises(Stopped, match=f"{places.manifest} {told}"):
        run_row(ROW, Budget(seeds=1, graphs=4), places)


# That of the checkout


def test_every_run_of_the_manifest_is_one_of_a_table() -> None:
    rows = [row for table in TABLES.values() for row in table.rows]
    known = {run_name(row, seed): row for row in rows for seed in range(row.seeds)}
    assert set(MANIFEST) <= set(known)
    for name, kept in MANIFEST.items():
        assert (kept.recipe, f"-seed{kept.seed}") == (known[name].recipe, name[-len("-seed0") :])
        assert len(kept.sha256) == 64
        assert len(kept.training.commit.rstrip("+")) == 40
        assert kept.training.command[0] == "gnarl-train"


@pytest.mark.parametrize("name", [name for name, kept in MANIFEST.items() if kept.shipped])
def test_shipped_weights_are_used(name: str, tmp_path: Path) -> None:
    kept = MANIFEST[name]
    assert kept.shipped is not None
    assert digest(find_pretrained(kept.shipped)) == kept.sha256
    rows = [row for table in TABLES.values() for row in table.rows]
    row = next(row for row in rows if run_name(row, kept.seed) == name)
    places = replace(places_in(tmp_path), manifest=Places.manifest)
    take_weights(row, kept.seed, places)
    assert digest(places.run(row, kept.seed) / "best.safetensors") == kept.sha256
    assert read_training(places.run(row, kept.seed)) == kept.training
