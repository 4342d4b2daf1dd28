"""Nothing that a command prints steers the terminal; what nobody foresaw is kept and told."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnarl_runtime.commands import console, view
from gnarl_runtime.commands.console import run_command, write
from gnarl_runtime.commands.solve import main as solve

Capture = pytest.CaptureFixture[str]
EVIL = "\x1b[31m\x1b]0;title\x07\x9b2J\u202e\x7f\rX"  # colour, title, C1, direction, delete, return
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ENTRY = (
    "from gnarl_runtime.commands.shell.entry import commands; raise SystemExit(commands.{name}())"
)


def test_names_from_outside_cannot_steer_the_terminal(tmp_path: Path, capsys: Capture) -> None:
    nodes = [{"id": EVIL + str(k), "w": 0.5, EVIL: 1} for k in range(3)]
    edges = [{"source": EVIL + "0", "target": EVIL + str(k)} for k in (1, 2)]
    data = tmp_path / f"{EVIL}.json"
    data.write_text(json.dumps({"nodes": nodes, "edges": edges}), "utf-8")
    assert solve(["--spec", "mvc", "--data", str(data)]) == 0
    assert solve(["--spec", "mvc", "--data", str(data), "--out", f"{tmp_path}/no/{EVIL}"]) == 2
    assert solve(["--spec", EVIL, "--data", str(data)]) == 2
    with pytest.raises(SystemExit):
        solve([f"--{EVIL}"])
    shown = capsys.readouterr()
    for text in (shown.out, shown.err):
        assert "X" in text
        assert not STEERING.search(text)


def test_our_own_colours_stay(capsys: Capture) -> None:
    def work() -> int:
        write("\x1b[1mbold\x1b[0m\x1b[2J", styled=True)
        return 0

    assert run_command("name", work) == 0
    assert capsys.readouterr().out == "\x1b[1mbold\x1b[0m\ufffd[2J"


def test_an_encoding_without_our_signs(tmp_path: Path) -> None:
    code = (
        "from gnarl_runtime.commands.console import run_command\n"
        "run_command('x', lambda: print('a \\u2192 b \\u2264 \\u03bb') or 0)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env={"PYTHONIOENCODING": "ascii"}
    )
    assert (run.stdout, run.stderr) == (b"a -> b <= \\u03bb\n", b"")


@pytest.mark.parametrize("streams", ["<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams(streams: str) -> None:
    line = f'"{sys.executable}" -c "{ENTRY.format(name="compile")}" bfs {streams}'
    assert subprocess.run(["sh", "-c", line], timeout=60).returncode == 0


@pytest.mark.parametrize("command", ["compile", "fmt"])
def test_closed_standard_input(command: str) -> None:
    line = f'"{sys.executable}" -c "{ENTRY.format(name=command)}" - <&-'
    run = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "standard input is closed" in run.stderr


def test_what_argparse_stumbles_over(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as stop:
        view.main(["mvc", "--nodes=--"])
    assert stop.value.code == 2
    assert "argument --nodes: expected one argument, found --" in capsys.readouterr().err


def test_what_nobody_foresaw_is_kept_and_told(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def work() -> int:
        raise ZeroDivisionError("never thought of it")

    assert run_command("gnarl-name", work) == 3
    shown = capsys.readouterr().err
    assert re.fullmatch(r"gnarl-name: a bug in GNARL: .*; please report it with \S+\n", shown)
    kept = Path(shown.split()[-1])
    assert kept.parent == tmp_path
    assert kept.stat().st_mode & 0o077 == 0
    assert "never thought of it" in kept.read_text("utf-8")
    assert "in work" in kept.read_text("utf-8")


def test_no_memory_is_nobodys_bug(capsys: Capture) -> None:
    def work() -> int:
        raise MemoryError

    assert run_command("name", work) == 1
    assert "not enough memory" in capsys.readouterr().err


def test_an_interrupt_that_a_library_wrapped_is_one(capsys: Capture) -> None:
    def work() -> int:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ImportError("the library failed to load") from None

    assert run_command("name", work) == 130
    assert capsys.readouterr().err == ""


def test_every_command_begins_at_the_entry() -> None:
    """Else Ctrl-C while its files are imported ends in a traceback."""
    from test_commands import SCRIPTS

    home = "gnarl_runtime.commands.shell.entry:"
    assert {it.partition(":")[0] + ":" for it in SCRIPTS.values()} == {home}


@pytest.mark.parametrize("delay", [0.02, 0.06, 0.12, 0.3, 0.6, 1.2])
def test_an_interrupt_while_starting_leaves_no_traceback(delay: float, tmp_path: Path) -> None:
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from gnarl_runtime.commands.shell.entry import commands\n"
        "print('here', flush=True)\n"
        "raise SystemExit(commands.train())"
    )
    arguments = ["--spec", "mvc", "--recipe", "mvc", "--out", str(tmp_path / "run")]
    run = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    assert run.stdout.readline()
    time.sleep(delay)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode in (130, -signal.SIGINT), err
    assert "Traceback" not in err
    assert console.INTERRUPTED == 130
