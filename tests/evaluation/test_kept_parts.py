"""An evaluation that is stopped goes on where it was, with the figures of one that was not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from checkpoints import untrained_run

from gnarl_compiler.instances.generators import GenerationError
from gnarl_runtime.checkpoints.arrays import read_arrays
from gnarl_runtime.checkpoints.checkpoint import BEST
from gnarl_runtime.commands.eval import main
from gnarl_runtime.commands.work import eval_command
from gnarl_runtime.evaluation import evaluate, kept
from gnarl_runtime.evaluation.kept import Kept

Capture = pytest.CaptureFixture[str]
FLAGS = (
    *("--sizes", "5,6", "--graphs", "12", "--temperature", "1", "--samples", "2"),
    *("--against", "random", "--reference", "optimal"),
)


@pytest.fixture(autouse=True)
def _in_parts_of_five(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "part_size", lambda compiled, nodes: 5)


@pytest.fixture(scope="module")
def mvc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    untrained_run(folder, "mvc")
    return folder / "mvc"


def stopped_in(
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    graph: int,
    error: type[BaseException] = KeyboardInterrupt,
) -> Callable[[], None]:
    """Evaluations are stopped after that graph; call what is returned to let them be."""

    class Impatient(eval_command.Progress):
        def __call__(self, step: str, done: int, total: int) -> None:
            if step == what and done > 1000 * graph:
                raise error

    usual = eval_command.Progress
    monkeypatch.setattr(eval_command, "Progress", Impatient)
    return lambda: monkeypatch.setattr(eval_command, "Progress", usual)


def evaluated(run: Path, file: Path, *more: str) -> int:
    return main([str(run), *FLAGS, *more, "--json", str(file)])


def figures(file: Path) -> dict[str, Any]:
    """All that does not depend on time."""
    document = json.loads(file.read_text("utf-8"))
    for rows in (document["results"], *document["baselines"].values()):
        for row in rows:
            del row["seconds_per_graph"]
    return {name: document[name] for name in ("results", "baselines", "evaluation", "training")}


@pytest.fixture(scope="module")
def whole(mvc: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("whole") / "a.json"
    assert evaluated(mvc, file) == 0
    return figures(file)


@pytest.mark.parametrize(
    ("moment", "played"),
    [
        (("5 nodes, policy", 5), 5),
        (("5 nodes, drawing", 10), 10),
        (("6 nodes, random", 10), 22),
    ],
)
def test_the_same_command_goes_on_where_it_was_stopped(
    moment: tuple[str, int],
    played: int,
    mvc: Path,
    whole: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    file, part = tmp_path / "a.json", tmp_path / "a.json.part"
    patient = stopped_in(monkeypatch, *moment)
    assert evaluated(mvc, file) == 130
    assert f"{part} has {played} graphs that were played; the same command goes on after them" in (
        capsys.readouterr().err
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.json.part"]
    patient()
    assert evaluated(mvc, file) == 0
    assert f"going on after {played} graphs" in capsys.readouterr().err
    assert figures(file) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_no_part_is_played_twice(
    mvc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = stopped_in(monkeypatch, "6 nodes, drawing", 5)
    assert evaluated(mvc, tmp_path / "a.json") == 130
    patient()
    drawn = []
    draw = evaluate.draw_pool

    def noted(*args: Any, **options: Any) -> Any:
        drawn.append((options["nodes"], options["first"]))
        return draw(*args, **options)

    monkeypatch.setattr(evaluate, "draw_pool", noted)
    assert evaluated(mvc, tmp_path / "a.json") == 0
    assert drawn == [(6, 5), (6, 10)]


@pytest.mark.parametrize(
    "more", [["--seed", "1"], ["--graphs", "13"], ["-p", "eps=0.2"], ["--against", "optimal"]]
)
def test_another_evaluation_does_not_use_it(
    more: list[str], mvc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    patient = stopped_in(monkeypatch, "5 nodes, drawing", 5)
    assert evaluated(mvc, tmp_path / "a.json") == 130
    patient()
    assert evaluated(mvc, tmp_path / "a.json", *more) == 0
    assert evaluated(mvc, tmp_path / "b.json", *more) == 0
    assert "going on" not in capsys.readouterr().err
    assert figures(tmp_path / "a.json") == figures(tmp_path / "b.json")


@pytest.mark.parametrize("content", [b"", b"somebody's own", "weights", "cut off"])
def test_a_file_that_is_not_ours_or_damaged_is_left_alone(
    content: bytes | str,
    mvc: Path,
    whole: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    file, part = tmp_path / "a.json", tmp_path / "a.json.part"
    patient = stopped_in(monkeypatch, "5 nodes, drawing", 5)
    assert evaluated(mvc, file) == 130
    contents = {"weights": (mvc / BEST).read_bytes(), "cut off": part.read_bytes()[:-40]}
    there = content if isinstance(content, bytes) else contents[content]
    part.write_bytes(there)
    assert evaluated(mvc, file) == 130
    patient()
    assert evaluated(mvc, file) == 0
    assert figures(file) == whole
    assert part.read_bytes() == there
    assert f"{part} was not written by gnarl-eval, or is damaged" in capsys.readouterr().err


def test_a_process_that_is_killed_loses_seconds(
    mvc: Path, whole: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written now and then, not only when somebody interrupts."""
    monkeypatch.setattr(kept, "_EVERY", 0.0)
    monkeypatch.setattr(Kept, "__exit__", lambda *args: None)  # as if there was no time for it
    patient = stopped_in(monkeypatch, "5 nodes, drawing", 10)
    assert evaluated(mvc, tmp_path / "a.json") == 130
    _, text = read_arrays(tmp_path / "a.json.part")
    assert json.loads(text)["parts"] == [["5 nodes", 0], ["5 nodes", 5]]
    patient()
    assert evaluated(mvc, tmp_path / "a.json") == 0
    assert figures(tmp_path / "a.json") == whole


def test_an_evaluation_that_fails_leaves_nothing(
    mvc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_EVERY", 0.0)
    stopped_in(monkeypatch, "5 nodes, drawing", 10, GenerationError)
    assert evaluated(mvc, tmp_path / "a.json") == 1
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_kept_of_an_evaluation_without_a_file(
    mvc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    stopped_in(monkeypatch, "5 nodes, drawing", 10)
    assert main([str(mvc), *FLAGS]) == 130
    assert capsys.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []
