"""`gnarl-check` from the command line: exit codes, formats, files, messages."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from gnarl_dsl.specs import find_spec
from gnarl_runtime.commands.check import main
from gnarl_runtime.commands.work import progress as progress_module
from gnarl_runtime.commands.work.progress import Pace, Progress, progress_text


def spec_text(name: str) -> str:
    path = find_spec(name)
    assert path is not None
    return path.read_text("utf-8")


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """MVC that ends with one edge uncovered."""
    right = "terminate when forall (x, y) in edges: in_cover[x] or in_cover[y]"
    wrong = "terminate when count((x, y) in edges where not in_cover[x] and not in_cover[y]) <= 1"
    text = spec_text("mvc")
    assert right in text
    path = tmp_path / "mvc_broken.gnarl"
    path.write_text(text.replace(right, wrong), "utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *args: str | Path) -> tuple[int, str, str]:
    code = main([str(arg) for arg in args])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


# Reports


def test_a_sound_spec_passes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "bfs", "--fast")
    assert code == 0
    assert "completely" in out
    assert "bfs passes" in out
    assert "shallowest" in out
    assert err == ""


def test_a_broken_spec_fails_with_a_counterexample(
    capsys: pytest.CaptureFixture[str], broken: Path
) -> None:
    code, out, _ = run(capsys, broken, "--fast")
    assert code == 1
    assert "FAILS invalid-end" in out
    assert "2 nodes, 1 edge: 0-1" in out
    assert "fails 1 property" in out


def test_json_is_one_document_with_the_witness(
    capsys: pytest.CaptureFixture[str], broken: Path
) -> None:
    code, out, _ = run(capsys, broken, "bfs", "--fast", "--format", "json")
    assert code == 1
    document = json.loads(out)
    wrong, right = document["specs"]
    assert (document["version"], wrong["passed"], right["passed"]) == (1, False, True)
    (failure,) = wrong["failures"]
    assert (failure["property"], failure["nodes"], failure["picks"]) == ("invalid-end", 2, [])
    line = broken.read_text("utf-8").splitlines()[failure["line"] - 1]
    assert line.startswith("valid")
    assert [size["graphs"] for size in right["sizes"]] == [1, 1, 2]
    assert all(size["depth"] is None for size in right["sizes"])


def test_one_property_or_one_expert_can_be_asked_for(
    capsys: pytest.CaptureFixture[str], broken: Path
) -> None:
    assert run(capsys, broken, "--fast", "--only", "dead-end")[0] == 0
    assert run(capsys, broken, "--fast", "--only", "invalid-end")[0] == 1
    _, out, _ = run(capsys, "mvc", "--fast", "--expert", "approximation", "--format", "json")
    experts = json.loads(out)["specs"][0]["experts"]
    assert [expert["name"] for expert in experts] == ["approximation"]


def test_lenient_asks_experts_for_answers_on_their_own_path_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = spec_text("mst_prim")
    spec = tmp_path / "prim.gnarl"
    spec.write_text(
        text.replace("else uniform v where not active(u)  # none changes anything", ""), "utf-8"
    )
    code, out, _ = run(capsys, spec, "--fast")
    assert code == 1
    assert "FAILS expert-silent prim" in out
    code, out, _ = run(capsys, spec, "--fast", "--lenient")
    assert code == 0
    line = text[: text.index("reach: uniform")].count("\n") + 1  # prim is the first
    assert f"- expert-silent: line {line}: the expert `prim` has no answer in phase `reach`" in out


# Files


def test_counterexamples_are_saved_and_replayed(
    capsys: pytest.CaptureFixture[str], broken: Path, tmp_path: Path
) -> None:
    folder, picture, graph = tmp_path / "found", tmp_path / "a.png", tmp_path / "a.dot"
    args = ("--fast", "--save", folder, "--png", picture, "--dot", graph)
    assert run(capsys, broken, *args)[0] == 1
    (saved,) = folder.iterdir()
    assert saved.name == "mvc-invalid-end.json"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert graph.read_text("utf-8").startswith("graph")
    code, out, _ = run(capsys, "--replay", saved)
    assert (code, out.splitlines()[-1]) == (1, "mvc: invalid-end still shows")
    code, out, _ = run(capsys, "--replay", saved, "mvc")
    assert (code, out) == (0, "mvc: invalid-end no longer shows\n")
    code, out, _ = run(capsys, "--replay", saved, "--format", "json")
    assert (code, json.loads(out)["happens"]) == (1, True)


def test_a_single_file_can_be_named(
    capsys: pytest.CaptureFixture[str], broken: Path, tmp_path: Path
) -> None:
    run(capsys, broken, "--fast", "--save", tmp_path / "one.json")
    assert (tmp_path / "one.json").is_file()


# Mistakes


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "no spec given"),
        (("bsf",), "Did you mean bfs?"),
        (("bfs", "--max-nodes", "9"), "from 1 to 6"),
        (("dfs", "--max-nodes", "6"), "directed graphs"),
        (("bfs", "--examples", "-1"), "--examples -1: expected 0 or more"),
        (("bfs", "--states", "0"), "--states 0: expected 1 or more"),
        (("bfs", "--only", "deadend"), "Did you mean `dead-end`?"),
        (("bfs", "--expert", "shallow"), "--expert shallow: expected one of: shallowest"),
        (("bfs", "-p", "tau"), "expected NAME=VALUE"),
        (("--replay", "a.json", "bfs", "dfs"), "at most one spec"),
        (("--replay", "there-is-none.json"), "there-is-none.json"),
        (("--replay", "a.json", "-p", "tau=1"), "-p needs a spec"),
    ],
)
def test_mistakes_are_explained(
    capsys: pytest.CaptureFixture[str], args: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, *args)
    assert code == 2
    assert said in err
    assert out == ""


def test_a_spec_with_errors_is_not_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "leak.gnarl"
    leaking = spec_text("mvc").replace("allow not in_cover[v]", "allow best[v]")
    path.write_text(leaking, "utf-8")
    code, _, err = run(capsys, path)
    assert code == 1
    assert "oracle" in err


def test_the_command_starts_light() -> None:
    """Mistakes on the command line are told before Numba and torch are loaded."""
    code = (
        "import sys; from gnarl_runtime.commands.check import main; assert main(['bsf']) == 2; "
        "print(' '.join(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "torch", "scipy", "networkx"} & set(ran.stdout.split())


# Progress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 5))
    monkeypatch.setattr(progress_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setenv("TERM", "xterm")
    screen, pipe = Terminal(), StringIO()
    for stream in (screen, pipe):
        with Progress("bfs", stream) as progress:
            progress("4 nodes", 0, 10)
            progress("4 nodes", 5, 10)
    assert "50 %" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")  # the line is cleared
    assert pipe.getvalue() == ""


def test_a_line_now_and_then_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(progress_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    pipe = StringIO()
    with Progress("bfs", pipe) as progress:
        for done in range(7):
            progress("4 nodes", done, 10)
    assert pipe.getvalue().splitlines() == [
        "bfs: 4 nodes [####----------------] 20 %, 32 s left",
        "bfs: 4 nodes [##########----------] 50 %, 20 s left",
    ]


def test_nothing_is_shown_of_what_is_quick_and_rich_waits_until_then() -> None:
    code = (
        "import io, sys\n"
        "from gnarl_runtime.commands.work.progress import Progress\n"
        "class Terminal(io.StringIO):\n"
        "    def isatty(self): return True\n"
        "screen = Terminal()\n"
        "with Progress('bfs', screen) as progress:\n"
        "    for done in range(100): progress('step', done, 100)\n"
        "assert screen.getvalue() == '' and 'rich' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_silent_step_is_shown_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE", 0.05)
    screen = Terminal()
    with Progress("bfs", screen) as progress:
        progress("compiling", 0, 1)
        until = time.monotonic() + 20
        while "bfs: compiling ..." not in screen.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    assert "bfs: compiling ..." in screen.getvalue()


def test_progress_estimates_what_is_left() -> None:
    assert progress_text("bfs", "4 nodes", 25, 100, 30.0) == (
        "bfs: 4 nodes [#####---------------] 25 %, 30 s left"
    )
    assert progress_text("bfs", "4 nodes", 0, 100, None) == (
        "bfs: 4 nodes [--------------------] 0 %"
    )
    assert progress_text("bfs", "compiling", 0, 1, None) == "bfs: compiling ..."


def test_steps_that_take_turns_are_judged_by_their_own_time() -> None:
    pace = Pace()
    assert pace.left("draw", 0, 100, now=0.0) is None
    assert pace.left("draw", 50, 100, now=1.0) == pytest.approx(1.0)
    assert pace.left("play", 40, 100, now=2.0) is None  # 40 were played by an earlier command
    assert pace.left("play", 50, 100, now=12.0) == pytest.approx(50.0)
    assert pace.left("draw", 50, 100, now=50.0) == pytest.approx(1.0)
    assert pace.left("draw", 100, 100, now=51.0) == 0
    assert pace.left("play", 50, 100, now=52.0) == pytest.approx(50.0)
    assert pace.left("play", 75, 100, now=67.0) == pytest.approx(25 * 25 / 35)


def test_the_first_steps_of_many_say_nothing_about_the_rest() -> None:
    pace = Pace()
    pace.left("play", 0, 1000, now=0.0)
    assert pace.left("play", 9, 1000, now=10.0) is None
    assert pace.left("play", 10, 1000, now=10.0) == pytest.approx(990)
