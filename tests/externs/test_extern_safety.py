"""Nobody's code runs unless the person who runs a command names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_extern_hostile import SPEC

import gnarl_dsl as gnarl
from gnarl_dsl.editing.document import open_document
from gnarl_dsl.editing.symbols import Kind
from gnarl_dsl.loading import check_file
from gnarl_runtime.checkpoints.checkpoint import load_checkpoint
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.commands import compile as compile_command
from gnarl_runtime.commands import fmt, trace

TRAP = """
from pathlib import Path
import gnarl_dsl as gnarl
Path({marker!r}).write_text("run")

@gnarl.extern
def largest_part(graph, removed):
    return graph.n - removed.sum()
"""
TINY = Recipe.model_validate(
    {
        "policy": {"width": 4},
        "data": {"pool": 8},
        "bc": {"updates": 2, "graphs": 4},
        "validation": {"graphs": 2},
    }
)


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, which is the current one, with a spec and a file that tells if it is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.gnarl").write_text(SPEC + "expert weak = greedy apart\n", "utf-8")
    text = TRAP.format(marker=str(tmp_path / "marker"))
    for name in ("parts.py", "largest_part.py", "gnarl_extern.py", "conftest.py"):
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def is_run(folder: Path) -> bool:
    return (folder / "marker").exists()


def test_opening_checking_formatting_compiling_a_spec_runs_nothing(
    trap: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_file("parts.gnarl").problem is not None
    assert gnarl.load("parts.gnarl").externs
    for arguments in ([], ["--emit", "python"], ["--emit", "ir"], ["-o", "out"]):
        assert compile_command.main(["parts.gnarl", *arguments]) == 0
    assert fmt.main(["--check", "parts.gnarl"]) == 0
    text = (trap / "parts.gnarl").read_text("utf-8")
    assert open_document(text, trap / "parts.gnarl").symbol("largest_part", Kind.EXTERN)
    assert trace.main(["parts.gnarl", "--nodes", "4"]) == 1  # nobody brought it
    assert "--extern FILE.py" in capsys.readouterr().err
    assert not is_run(trap)
    assert trace.main(["parts.gnarl", "--nodes", "4", "--extern", "parts.py"]) == 0
    assert is_run(trap)


def trained_run(folder: Path) -> Path:
    spec, code = folder / "parts.gnarl", [folder / "parts.py"]
    trained = gnarl.train(spec, extern=code, recipe=TINY)
    trained.save(folder / "run.safetensors")
    (folder / "marker").unlink()
    return folder / "run.safetensors"


def test_a_checkpoint_names_its_file_and_runs_nothing(trap: Path) -> None:
    run = trained_run(trap)
    trained = load_checkpoint(run)
    (entry,) = trained.meta.provenance["externs"]
    assert entry["name"] == "largest_part"
    assert entry["signature"] == "largest_part(removed : node mask) : graph scalar"
    assert entry["file"] == "parts.py"
    assert b"removed.sum()" not in run.read_bytes()  # the code itself is nowhere
    with pytest.raises(gnarl.ExternError, match=r"--extern parts\.py"):
        gnarl.evaluate(run, sizes=[4], graphs=2)
    assert not is_run(trap)
    table = gnarl.evaluate(run, sizes=[4], graphs=2, extern=["parts.py"])
    assert table.rows
    assert is_run(trap)
    other = trap / "other.py"
    other.write_text((trap / "parts.py").read_text("utf-8") + "# changed\n", "utf-8")
    with pytest.raises(gnarl.ExternError, match=r"--accept-extern"):
        gnarl.evaluate(run, sizes=[4], graphs=2, extern=[other])
    assert gnarl.evaluate(run, sizes=[4], graphs=2, extern=[other], accept_extern=True).rows
