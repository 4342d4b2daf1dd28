"""Broken and hostile code ends in one clear message, with nothing lost and nothing half-written."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import gnarl_dsl as gnarl
from gnarl_dsl.model import Problem
from gnarl_runtime.commands.trace import main as trace

SPEC = """
gnarl 1
problem parts
graph undirected
features
  removed  state  node  mask  = false
extern largest_part(removed : node mask) : graph scalar
phase take(v)
  allow not removed[v]
  update
    removed[v] := true
horizon n rounds
objective apart = -largest_part(removed)
instances er
  train 8  er(n = 5, p = 0.5)
  valid 2  er(n = 5, p = 0.5)
  test  2  er(n = 5, p = 0.5)
""".lstrip()
LINE = "6 | extern largest_part"
HEAD = "import sys\nimport numpy as np\nimport gnarl_dsl as gnarl\n\n\n"
BROKEN = {
    "return 1 / 0": ("ZeroDivisionError: division by zero", "own.py:8: return 1 / 0"),
    "sys.exit(0)": ("SystemExit: 0", "own.py:8: sys.exit(0)"),
    "return np.nan": ("gave nan", "finite"),
    "return np.inf": ("gave inf", "finite"),
    "return removed": ("an array (5,) of bool", "expected a value of numbers"),
    "return 'many'": ("'many', a str", "expected a value of numbers"),
    "print('here')": ("gave None", "expected a value of numbers"),
    "return [[1], [1, 2]]": ("gave [[1], [1, 2]], a list", "expected"),
    "removed[0] = True": ("read-only", "work on a copy"),
    "graph.adjacency.setflags(write=True)": ("WRITEABLE", "own.py:8"),
    "graph.n = 3": ("AttributeError", "own.py:8"),
    "while True: pass": ("took longer than 0.2 s", "seconds="),
}


def own_file(folder: Path, body: str) -> Path:
    text = f"{HEAD}@gnarl.extern(seconds=0.2)\ndef largest_part(graph, removed):\n    {body}\n"
    path = folder / "own.py"
    path.write_text(text, "utf-8")
    return path


def problem_with(folder: Path, body: str) -> Problem:
    return gnarl.loads(SPEC, extern=[own_file(folder, body)])


@pytest.mark.parametrize("body", BROKEN)
def test_a_command_says_what_went_wrong_and_where(
    body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "parts.gnarl"
    spec.write_text(SPEC, "utf-8")
    code = trace([str(spec), "--nodes", "5", "--extern", str(own_file(tmp_path, body))])
    out, err = capsys.readouterr()
    assert code == 1
    assert "parts.gnarl:6: `largest_part`" in err
    assert LINE in err
    assert "Traceback" not in err
    for said in BROKEN[body]:
        assert said in err
    assert "here" not in out  # what code prints is not among the output


@pytest.mark.parametrize(
    "body", ["return 1 / 0", "while True: pass", "return np.nan", "removed[0] = True"]
)
def test_kernels_stop_with_the_same_message(body: str, tmp_path: Path) -> None:
    problem = problem_with(tmp_path, body)
    envs = gnarl.make_vec(problem, num_envs=4, instances=[instance_of(problem)])
    with pytest.raises(gnarl.ExternError) as found:
        envs.reset(seed=0)
    assert all(said in str(found.value) for said in (LINE, "`largest_part`", *BROKEN[body]))


def test_a_call_is_stopped_in_other_threads_too(tmp_path: Path) -> None:
    problem = problem_with(tmp_path, "while True: pass")
    told: list[BaseException] = []

    def play() -> None:
        try:
            game = gnarl.Interpreter(problem)
            (instance,) = gnarl.draw(problem, count=1)
            game.objective(game.reset(instance))
        except gnarl.ExternError as error:
            told.append(error)

    thread = threading.Thread(target=play)
    thread.start()
    thread.join(30)
    assert "took longer than 0.2 s" in str(told[0])


def test_code_that_catches_what_would_stop_it_ends_the_process(tmp_path: Path) -> None:
    body = (
        "for _ in range(99):\n        try:\n            for _ in iter(int, 1): pass\n"
        "        except BaseException: pass"
    )
    own_file(tmp_path, body)
    (tmp_path / "parts.gnarl").write_text(SPEC, "utf-8")
    program = (
        "from gnarl_compiler.externs import calls\ncalls._AGAIN, calls._TIMES = 0.01, 3\n"
        "from gnarl_runtime.commands.trace import main\n"
        "main(['parts.gnarl', '--extern', 'own.py'])\nprint('never')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert LINE in done.stderr
    assert "It does not let itself be stopped." in done.stderr


def instance_of(problem: Problem) -> gnarl.Instance:
    from gnarl_compiler.graphs.graph import Graph

    graph = Graph(False, np.zeros((3, 3), np.bool_))
    return gnarl.Instance(graph, {}, np.arange(3, dtype=np.uint64))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C interrupts, also where this process was started to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_is_an_interrupt(tmp_path: Path) -> None:
    """Ctrl-C while code runs is no mistake of the code."""
    stop = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(5)"
    problem = problem_with(tmp_path, stop)
    game = gnarl.Interpreter(problem)
    with pytest.raises(KeyboardInterrupt):
        game.objective(game.reset(instance_of(problem)))
    envs = gnarl.make_vec(problem, num_envs=2, instances=[instance_of(problem)])
    with pytest.raises(KeyboardInterrupt):
        envs.reset(seed=0)


def test_the_clock_of_others_goes_on(tmp_path: Path) -> None:
    """A timer that somebody else has set still rings, and their handler is put back."""
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        problem = problem_with(tmp_path, "return 1")
        game = gnarl.Interpreter(problem)
        assert game.objective(game.reset(instance_of(problem))) == -1
        signal.raise_signal(signal.SIGALRM)
        assert rung == [1]
    finally:
        signal.signal(signal.SIGALRM, before)


FILES: dict[str, tuple[str, str]] = {
    "raise SystemExit(0)": ("SystemExit: 0", "own.py:1"),
    "def f(:": ("line 1", "own.py"),
    "x = 1": ("registers nothing", "@gnarl.extern"),
}


@pytest.mark.parametrize("text", FILES)
def test_a_file_that_brings_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(text, "utf-8")
    with pytest.raises(gnarl.GnarlError) as found:
        gnarl.loads(SPEC, extern=[tmp_path / "own.py"])
    assert all(said in str(found.value) for said in FILES[text])


def test_other_parameters_are_told_before_anything_plays(tmp_path: Path) -> None:
    @gnarl.extern
    def largest_part(graph: object, taken: object) -> int:
        return 1

    with pytest.raises(gnarl.ExternError, match=r"def largest_part\(graph, removed\)"):
        gnarl.loads(SPEC, extern=[largest_part])


def test_nobody_brought_it() -> None:
    problem = gnarl.loads(SPEC)
    game = gnarl.Interpreter(problem)
    with pytest.raises(gnarl.ExternError, match=r"--extern FILE\.py"):
        game.objective(game.reset(instance_of(problem)))
