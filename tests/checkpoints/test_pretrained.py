"""The weights that come with GNARL: found by name, and for the shipped specs as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped_specs import shipped

from gnarl_runtime.batch.signature import differences, signature_of
from gnarl_runtime.checkpoints.checkpoint import load_checkpoint
from gnarl_runtime.checkpoints.pretrained import find_pretrained, pretrained_names
from gnarl_runtime.commands.eval import main as evaluate
from gnarl_runtime.commands.solve import main as solve
from gnarl_runtime.commands.view import main as view


@pytest.mark.parametrize("name", pretrained_names())
def test_shipped_weights_fit_the_shipped_spec(name: str) -> None:
    loaded = load_checkpoint(find_pretrained(name))
    assert not differences(loaded.policy.signature, signature_of(shipped(name)))
    names = [Path(source.name) for source in loaded.problem.sources]
    assert not any(path.is_absolute() for path in names), "where somebody trained is his business"


def test_a_name_is_enough_to_evaluate(capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(["--pretrained", "bfs", "--sizes", "24", "--graphs", "30"]) == 0
    assert "100.0 %" in capsys.readouterr().out


def test_a_name_is_enough_to_look(tmp_path: Path) -> None:
    page = tmp_path / "bfs.html"
    assert view(["--pretrained", "bfs", "--nodes", "6", "-o", str(page)]) == 0
    assert "bfs" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--pretrained", "bsf"], "did you mean bfs?"),
        (["--pretrained", "zzzzzz"], "shipped: "),
        (["runs/x", "--pretrained", "bfs"], "expected one of them"),
        ([], "or --pretrained NAME"),
    ],
)
def test_mistakes_are_told(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (evaluate, view, lambda given: solve([*given, "--data", "graph.json"])):
        assert command(arguments) == 2
        assert told in capsys.readouterr().err
