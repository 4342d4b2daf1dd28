"""`gnarl-doctor`: what it says of a sound installation, and of the usual faults."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gnarl_dsl import __version__
from gnarl_runtime.commands.doctor import examine, main
from gnarl_runtime.doctor import machine, selftest
from gnarl_runtime.doctor.looks import Finding, State, look
from gnarl_runtime.network.fused import kernel_library

Capture = pytest.CaptureFixture[str]


def found(topic: str, findings: list[Finding]) -> Finding:
    return next(finding for finding in findings if finding.topic == topic)


def test_everything_works_here(capsys: Capture) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith("Everything works.\n")
    for word in (f"gnarl-dsl        {__version__}", "torch  ", "kernel  ", "threads  ", "device  "):
        assert word in shown
    assert shown.count("self-test") == 4


def test_quick_is_machine_readable_and_plays_nothing(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "self_test", lambda: pytest.fail("played"))
    assert main(["--quick", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["version"], document["ok"], document["tested"]) == (1, True, False)
    topics = {finding["topic"] for finding in document["findings"]}
    assert {"gnarl-dsl", "python", "torch", "cache", "kernel", "extra lsp", "specs"} <= topics
    assert {finding["state"] for finding in document["findings"]} <= {"ok", "note"}


def test_a_cache_that_is_a_file_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GNARL_CACHE", str(tmp_path / "file" / "deeper"))
    assert main(["--quick"]) == 1
    shown = capsys.readouterr().out
    assert f"x cache            {tmp_path / 'file'} is a file" in shown
    assert "likely fix" in shown


def test_a_cache_that_cannot_be_written_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNARL_CACHE", str(tmp_path / "new"))
    monkeypatch.setattr(machine, "unwritable", lambda folder: "Read-only file system")
    (finding,) = machine.cache()
    assert finding.state is State.BROKEN
    assert "Read-only file system" in finding.text
    assert "GNARL_CACHE" in finding.fix


def test_a_cache_that_others_can_write_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chmod(tmp_path, 0o777)
    monkeypatch.setenv("GNARL_CACHE", str(tmp_path))
    (finding,) = machine.cache()
    assert finding.state is State.NOTE
    assert f"chmod 700 {tmp_path}" in finding.fix
    os.chmod(tmp_path, 0o700)
    (finding,) = machine.cache()
    assert finding.state is State.OK


def test_without_a_compiler_torch_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no_such_compiler")
    (finding,) = machine.compiler()
    assert (finding.state, "no_such_compiler" in finding.text) == (State.NOTE, True)
    monkeypatch.setattr(kernel_library, "library", lambda: finding.text)
    monkeypatch.delenv("GNARL_KERNEL", raising=False)
    (finding,) = machine.kernel()
    assert finding.state is State.NOTE
    assert finding.text.startswith("torch, because there is no C compiler")
    monkeypatch.setenv("GNARL_KERNEL", "fused")
    (finding,) = machine.kernel()
    assert finding.state is State.BROKEN


def test_a_misspelt_kernel_is_broken(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("GNARL_KERNEL", "fast")
    assert main(["--quick"]) == 1
    shown = capsys.readouterr().out
    assert "GNARL_KERNEL: expected auto or torch or fused, found 'fast'" in shown
    assert "likely fix: unset GNARL_KERNEL" in shown


def test_a_missing_package_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    real = machine.package_version
    monkeypatch.setattr(
        machine, "package_version", lambda name: "none" if name == "scipy" else real(name)
    )
    finding = found("scipy", list(examine(quick=True)))
    assert finding.state is State.BROKEN
    assert "pip install" in finding.fix


def test_a_wrong_answer_of_the_self_test_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = selftest.SPEC.replace("count(x in nodes where marked[x])", "0")
    monkeypatch.setattr(selftest, "SPEC", wrong)
    *_, last = look("self-test", selftest.self_test, "the fix")
    assert last.state is State.BROKEN
    assert "expected 10, found 0" in last.text


def test_what_fails_while_looking_is_a_finding() -> None:
    def probe() -> list[Finding]:
        raise RuntimeError("first line\nsecond line")

    (finding,) = look("thing", probe, "mend it")
    assert finding == Finding("thing", "RuntimeError: first line", State.BROKEN, "mend it")
