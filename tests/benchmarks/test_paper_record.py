"""The records of the paper's tables: what was written is read again, also in its older form."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from paper_cases import TABLE, TRIAL

from benchmarks.frame import compact_json
from benchmarks.paper.outcomes import Outcome, Places
from benchmarks.paper.readme import BEGIN, END, lines
from benchmarks.paper.record import entries_of, outcomes_of, record_of
from benchmarks.paper.report import write_table
from benchmarks.paper.rows import Table, Trial
from benchmarks.paper.summary import write_overview
from benchmarks.paper.tables import TABLES

RESULT = {"nodes": 8, "graphs": 3, "success": 1.0, "metrics": {}, "ratio": None}


def older(outcome: Outcome, **changes: Any) -> dict[str, Any]:
    """An outcome as tables had it before: all of its run in each entry."""
    training = outcome.training
    row = TABLE.rows[0]
    return {
        "row": row.name,
        "spec": row.spec,
        "recipe": row.recipe,
        "recipe_digest": training.recipe,
        "options": list(row.options),
        "nodes": outcome.trial.nodes,
        "trial": outcome.trial.name,
        "trial_options": list(outcome.trial.options),
        "seed": outcome.seed,
        "figure": row.figure,
        "value": 100.0,
        "paper": None,
        "training_cpu_seconds": training.cpu_seconds,
        "picks_learned_from": training.picks,
        "evaluation_megabytes": outcome.megabytes,
        "command": training.command,
        "commit": training.commit,
        "load": training.load,
        "curve": training.curve,
        "result": outcome.result,
        "baselines": outcome.baselines,
        **changes,
    }


def test_the_older_form_has_the_same_outcomes(places: Places) -> None:
    first, second = outcomes_of(TABLE, places)["tiny"]
    beside = {"random": {**RESULT, "standard_errors": {"reward": None}}, "expert": RESULT}
    found = {"tiny": [replace(first, baselines=beside), second]}
    record = record_of(replace(TABLE, figure="curves"), found)
    document = {"table": "tiny", "rows": [older(outcome) for outcome in found["tiny"]]}
    assert entries_of(document) == entries_of(json.loads(compact_json(record)))
    (entry, _) = entries_of(document)
    assert entry.baselines["expert"] == {"nodes": 8, "graphs": 3, "success": 1.0}
    assert entry.run.training == first.training
    assert entry.result["success"] == first.result["success"]


def test_what_older_entries_do_not_know_is_unknown(places: Places) -> None:
    first, _ = outcomes_of(TABLE, places)["tiny"]
    entry = older(first, training_cpu_seconds=None)
    for key in ("load", "curve", "baselines", "trial_options", "recipe_digest"):
        del entry[key]
    (found,) = entries_of({"rows": [entry]})
    assert math.isnan(found.run.training.cpu_seconds)
    assert found.trial_options is None
    assert found.is_of(replace(TRIAL, options=("--max-rounds", "1")))  # nobody can tell
    assert found.run.is_of(TABLE.rows[0])


def test_specs_that_have_moved_are_found_in_the_older_form(places: Places) -> None:
    first, _ = outcomes_of(TABLE, places)["tiny"]
    old, new = (f"benchmarks/{folder}/x.gnarl" for folder in ("families", "paper/families"))
    (found,) = entries_of({"rows": [older(first, spec=old, trial_options=["--spec", old])]})
    assert (found.run.spec, found.trial_options) == (new, ["--spec", new])


def test_words_with_spaces_survive(places: Places) -> None:
    first, _ = outcomes_of(TABLE, places)["tiny"]
    trial = Trial(8, 3, ("-p", "name=two words", "--data", "it's"))
    made = replace(first.training, command=["gnarl-train", "--out", "a folder"])
    found = {"tiny": [replace(first, trial=trial, training=made)]}
    (entry,) = entries_of(json.loads(compact_json(record_of(TABLE, found))))
    assert entry.is_of(trial)
    assert entry.run.training.command == made.command


def test_a_record_has_a_line_for_each_figure(places: Places) -> None:
    found = outcomes_of(TABLE, places)
    first, *body, last = compact_json(record_of(TABLE, found)).splitlines()
    assert (first, last) == ("[", "]")
    kinds = [next(iter(json.loads(line.rstrip(",")))) for line in body]
    assert kinds == ["table", "run", "figure", "run", "figure"]


def test_other_records_have_a_line_for_each_entry() -> None:
    record = {"rows": [{"a": 1}, {"a": [2, 3]}], "nodes": [1, 2], "written": {"by": "ü"}}
    text = (
        '{\n"rows": [\n{"a": 1},\n{"a": [2, 3]}\n],\n"nodes": [1, 2],\n"written": {"by": "ü"}\n}\n'
    )
    assert compact_json(record) == text
    assert json.loads(text) == record


# Those of the checkout


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """All tables and the page of them, from a copy of the records alone."""
    folder = tmp_path_factory.mktemp("written")
    copytree(Places.output, folder / "results")
    places = Places(folder / "runs", folder / "weights", folder / "results", folder / "none")
    for table in TABLES.values():
        write_table(replace(table, figure=""), places)
    write_overview(list(TABLES.values()), places)
    return places


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_page_is_what_its_record_says(table: Table, written: Places) -> None:
    name = f"paper_{table.name}.md"
    shown = (Places.output / name).read_text("utf-8")
    picture = f"\n![{table.title}](paper_{table.name}.svg)\n" if table.figure else ""
    assert picture in shown
    assert (written.output / name).read_text("utf-8") == shown.replace(picture, "", 1)


def test_the_page_of_all_tables_is_what_the_records_say(written: Places) -> None:
    page = (Places.output / "paper.md").read_bytes()
    assert (written.output / "paper.md").read_bytes() == page


def test_the_table_of_the_readme_is_what_the_records_say() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    assert readme.split(BEGIN)[1].split(END)[0].strip() == "\n".join(lines())


@pytest.mark.parametrize("table", TABLES)
def test_records_are_compact(table: str) -> None:
    text = (Places.output / f"paper_{table}.json").read_text("utf-8")
    assert max(map(len, text.splitlines())) < 1000
    assert isinstance(json.loads(text), list)


def test_tables_are_built_without_a_recipe() -> None:
    code = (
        "from gnarl_runtime.checkpoints import recipe_files as files\n"
        "def load_recipe(name): raise AssertionError(name)\n"
        "files.load_recipe = load_recipe\n"
        "from benchmarks.paper.tables import TABLES\n"
        "assert any(row.share < 1 for table in TABLES.values() for row in table.rows)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
