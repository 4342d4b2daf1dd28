"""The gnarl-fmt command: what it writes, prints and returns, and how it takes mistakes."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gnarl_dsl import __version__
from gnarl_dsl.report.diagnostics import InternalError
from gnarl_dsl.report.source import MAX_BYTES
from gnarl_runtime.commands.fmt import main

UGLY = "gnarl  1\nproblem  test\nlet a=1\nlet bcd=2\n"
NEAT = "gnarl 1\nproblem test\nlet a   = 1\nlet bcd = 2\n"
BROKEN = "gnarl 1\nproblem test\nlet a = (\n"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "test.gnarl"
    path.write_text(UGLY, "utf-8")
    return path


def feed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(text.encode("utf-8")), "utf-8")
    monkeypatch.setattr("sys.stdin", stdin)


# What it does


def test_formats_and_says_so(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(spec)]) == 0
    assert spec.read_text("utf-8") == NEAT
    assert capsys.readouterr() == (f"formatted {spec}\n", "")


def test_writes_nothing_if_nothing_changes(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(NEAT, "utf-8")
    before = spec.stat()
    assert main([str(spec)]) == 0
    after = spec.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert capsys.readouterr() == ("", "")


def test_check_lists_and_writes_nothing(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    neat = spec.with_name("neat.gnarl")
    neat.write_text(NEAT, "utf-8")
    assert main(["--check", str(spec), str(neat)]) == 1
    assert capsys.readouterr().out == f"would format {spec}\n"
    assert spec.read_text("utf-8") == UGLY
    assert main(["--check", str(neat)]) == 0


def test_diff_shows_and_writes_nothing(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(UGLY.rstrip("\n"), "utf-8")
    assert main(["--diff", str(spec)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"--- {spec}\n+++ {spec} (formatted)\n@@ -1,4 +1,4 @@\n-gnarl  1\n")
    assert "-let bcd=2\n\\ No newline at end of file\n" in out
    assert out.endswith("+let a   = 1\n+let bcd = 2\n")
    assert spec.read_text("utf-8") == UGLY.rstrip("\n")
    spec.write_text(NEAT, "utf-8")
    assert main(["--diff", str(spec)]) == 0
    assert capsys.readouterr().out == ""


def test_searches_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = [tmp_path / "b" / "c" / "x.gnarl", tmp_path / "a.gnarl"]
    others = [tmp_path / ".venv" / "y.gnarl", tmp_path / "notes.txt"]
    for path in [*inside, *others]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(UGLY, "utf-8")
    assert main([str(tmp_path)]) == 0
    assert [path.read_text("utf-8") for path in inside] == [NEAT, NEAT]
    assert [path.read_text("utf-8") for path in others] == [UGLY, UGLY]
    assert capsys.readouterr().out == f"formatted {inside[1]}\nformatted {inside[0]}\n"


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    feed(monkeypatch, UGLY)
    assert main(["-"]) == 0
    assert capsys.readouterr() == (NEAT, "")
    feed(monkeypatch, NEAT)
    assert main(["-", "--check"]) == 0
    feed(monkeypatch, BROKEN)
    assert main(["-"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "<stdin>:3:9: error GN008" in err


def test_keeps_permissions_and_links(spec: Path) -> None:
    spec.chmod(0o640)
    link = spec.with_name("link.gnarl")
    link.symlink_to(spec.name)
    assert main([str(link)]) == 0
    assert link.is_symlink()
    assert spec.read_text("utf-8") == NEAT
    assert spec.stat().st_mode & 0o777 == 0o640


def test_line_ends_become_plain(spec: Path) -> None:
    spec.write_bytes(b"\xef\xbb\xbf" + NEAT.replace("\n", "\r\n").encode())
    assert main(["--check", str(spec)]) == 1
    assert main([str(spec)]) == 0
    assert spec.read_bytes() == NEAT.encode()


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_speaks_about_itself(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([flag])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert out == f"gnarl-fmt {__version__}\n" if flag == "--version" else "examples:" in out


# Mistakes


def test_syntax_errors_leave_the_file_alone(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = spec.with_name("broken.gnarl")
    broken.write_text(BROKEN, "utf-8")
    assert main([str(broken), str(spec)]) == 1
    out, err = capsys.readouterr()
    assert f"{broken}:3:9: error GN008" in err
    assert out == f"formatted {spec}\n"
    assert broken.read_text("utf-8") == BROKEN


def test_type_errors_are_none_of_its_business(spec: Path) -> None:
    spec.write_text("gnarl 1\nlet a=missing+true\n", "utf-8")
    assert main([str(spec)]) == 0
    assert spec.read_text("utf-8") == "gnarl 1\nlet a = missing + true\n"


def test_failed_writes_leave_the_file_alone(
    spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert main([str(spec)]) == 2
    assert "No space left" in capsys.readouterr().err
    assert spec.read_text("utf-8") == UGLY
    assert os.listdir(spec.parent) == [spec.name]


def test_write_protection_is_respected(
    spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert main([str(spec)]) == 2
    assert "write-protected" in capsys.readouterr().err
    assert spec.read_text("utf-8") == UGLY


def test_unreadable_files_are_named(
    spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forbidden(name: str, mode: str) -> None:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr("builtins.open", forbidden)
    code = main([str(spec)])
    monkeypatch.undo()
    assert code == 2
    assert f"cannot read {spec}: Permission denied." in capsys.readouterr().err


def test_a_bug_is_called_a_bug(
    spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(source: object) -> str:
        raise InternalError("two and two make five")

    monkeypatch.setattr("gnarl_dsl.format.house_style.format_source", wrong)
    assert main([str(spec)]) == 3
    assert "please report" in capsys.readouterr().err
    assert spec.read_text("utf-8") == UGLY


MISTAKES = {
    "no argument": ([], "no spec given"),
    "missing": (["tset.gnarl"], "there is no file tset.gnarl.\nDid you mean test.gnarl?"),
    "no suffix": (["test"], "Did you mean test.gnarl?"),
    "far off": (["somewhere/else.gnarl"], "Check the spelling; the current folder is"),
    "empty folder": (["empty"], "there is no .gnarl file in empty."),
    "not a file": (["pipe"], "pipe is not a file."),
    "not text": (["bytes.gnarl"], "bytes.gnarl is not UTF-8 text: line 2 holds the byte 0xff."),
    "too large": (["large.gnarl"], "large.gnarl is larger than the 500,000 bytes"),
    "impossible name": (["a" * 5000], "File name too long"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_explained(
    name: str, spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(spec.parent)
    Path("empty").mkdir()
    os.mkfifo("pipe")
    Path("bytes.gnarl").write_bytes(b"gnarl 1\n\xff")
    Path("large.gnarl").write_bytes(b"#" * (MAX_BYTES + 1))
    arguments, message = MISTAKES[name]
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gnarl-fmt: ")
    assert message in err
    assert err.count("\n") <= 2


def test_one_mistake_does_not_stop_the_rest(spec: Path) -> None:
    assert main([str(spec.with_name("missing.gnarl")), str(spec)]) == 2
    assert spec.read_text("utf-8") == NEAT


def test_a_reader_may_leave(spec: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from gnarl_runtime.commands.fmt import main; exit(main())",
        "--diff",
    ]
    with subprocess.Popen(
        [*command, str(spec)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
