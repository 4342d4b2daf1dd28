"""The cache of compiled code: nobody but its owner can put anything into it that would be run."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnarl_compiler.build import cache
from gnarl_dsl.report.failures import Notice

PLAY = (
    "import gnarl_dsl as gnarl\n"
    "env = gnarl.make('bfs', nodes=4, pool=2)\n"
    "_, info = env.reset(seed=0)\n"
    "env.step(int(info['action_mask'].argmax()))\n"
    "from gnarl_compiler.build.artifact import compile_problem\n"
    "print(compile_problem(gnarl.load('bfs')).path)\n"
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GNARL_CACHE", str(tmp_path / "cache"))
    cache._tell.cache_clear()
    yield
    cache._tell.cache_clear()


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_the_folder_is_private_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    before = os.umask(mask)
    try:
        part = cache.private_cache("kernels")
    finally:
        os.umask(before)
    assert part == tmp_path / "cache" / "kernels"
    assert mode(part) == mode(part.parent) == 0o700


def test_a_folder_that_others_can_read_is_closed(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o755)
    assert mode(cache.private_cache()) == 0o700


@pytest.mark.parametrize("shared", ["cache", "cache/kernels"])
def test_a_folder_that_others_can_write_is_not_used(tmp_path: Path, shared: str) -> None:
    (tmp_path / shared).mkdir(parents=True)
    (tmp_path / "cache").chmod(0o700)
    (tmp_path / shared).chmod(0o1777)
    with pytest.warns(Notice, match="can be written by others"):
        found = cache.private_cache("kernels")
    assert tmp_path not in found.parents
    assert mode(found) == 0o700


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (tmp_path / "cache").symlink_to(elsewhere)
    with pytest.warns(Notice, match="is a link"):
        assert elsewhere not in (found := cache.private_cache("kernels")).parents
    assert found.is_dir()
    assert not list(elsewhere.iterdir())


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root")
def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    os.chown(tmp_path / "cache", 65534, 65534)
    with pytest.warns(Notice, match="belongs to somebody else"):
        assert tmp_path not in cache.private_cache().parents


def test_a_notice_comes_once(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    (tmp_path / "cache").write_text("a file")
    for _ in range(3):
        cache.private_cache("oracles")
    assert len([found for found in recwarn if found.category is Notice]) == 1


def play(folder: Path) -> subprocess.CompletedProcess[str]:
    """An episode in a process of its own, uncompiled, with that cache."""
    names = {"GNARL_CACHE": str(folder), "GNARL_JIT": "off", "PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run(
        [sys.executable, "-c", PLAY], env={**os.environ, **names}, capture_output=True, text=True
    )


def test_bytecode_beside_a_module_is_neither_read_nor_written(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    first = play(folder)
    assert first.returncode == 0, first.stderr
    module = Path(first.stdout.strip())
    assert not list(folder.rglob("*.pyc"))
    planted = folder / "__pycache__" / f"{module.stem}.{sys.implementation.cache_tag}.pyc"
    planted.parent.mkdir(exist_ok=True)
    import importlib._bootstrap_external as bootstrap  # as Python itself writes such a file

    code = compile("raise SystemExit('planted code was run')", str(module), "exec")
    found = module.stat()
    planted.write_bytes(
        bootstrap._code_to_timestamp_pyc(code, int(found.st_mtime), found.st_size)  # type: ignore[attr-defined]
    )
    again = play(folder)
    assert (again.returncode, again.stderr) == (0, ""), again.stderr


def test_a_module_that_was_changed_is_not_what_runs(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    module = Path(play(folder).stdout.strip())
    module.write_text("raise SystemExit('changed code was run')")
    again = play(folder)
    assert again.returncode == 0, again.stderr
    assert "changed code" not in module.read_text("utf-8")


COMPILED = (
    "import warnings, gnarl_dsl as gnarl\n"
    "with warnings.catch_warnings(record=True) as found:\n"
    "    warnings.simplefilter('always')\n"
    "    env = gnarl.make(SPEC, nodes=4, pool=2)\n"
    "    _, info = env.reset(seed=0)\n"
    "    env.step(int(info['action_mask'].argmax()))\n"
    "print(*sorted({str(w.message) for w in found if 'cache' in str(w.message)}), sep='\\n')\n"
)
TOY = (
    "gnarl 1\nproblem toy\ngraph undirected\nfeatures\n"
    "  w   input node scalar ~ uniform(0, 1)\n  on  state node mask = false\n"
    "phase pick(v)\n  allow not on[v]\n  update\n    on[v] := true\nhorizon n rounds\n"
    "objective best = sum(x in nodes where on[x]: w[x])\n"
    "instances er\n  train 10 er(n = 4, p = 0.5)\n"
    "  valid 1 er(n = 4, p = 0.5)\n  test 1 er(n = 4, p = 0.5)\n"
)


def compiled_play(code: str, **names: str) -> subprocess.CompletedProcess[str]:
    code = f"SPEC = gnarl.loads({TOY!r})\n".join(["import gnarl_dsl as gnarl\n", code])
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **names}, capture_output=True, text=True
    )


@pytest.mark.parametrize("kind", ["full", pytest.param("read-only", marks=pytest.mark.long)])
def test_a_cache_that_cannot_be_written_costs_speed_only(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    limit = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    )
    said = "File too large"
    if kind == "read-only":
        mount = ["mount", "-t", "tmpfs", "-o", "ro,mode=700", "tmpfs", str(folder)]
        if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("no file system can be mounted here")
        limit, said = "", "Read-only file system"
    try:
        run = compiled_play(limit + COMPILED, GNARL_CACHE=str(folder))
    finally:
        if kind == "read-only":
            subprocess.run(["umount", str(folder)], check=True)
    assert run.returncode == 0, run.stderr
    assert said in run.stdout
    assert "every start compiles anew" in run.stdout
    assert not list(folder.iterdir())


@pytest.mark.long
def test_an_index_that_was_cut_off_is_made_anew(tmp_path: Path) -> None:
    """As a disk that was full leaves it."""
    folder = tmp_path / "cache"
    assert compiled_play(COMPILED, GNARL_CACHE=str(folder)).returncode == 0
    indices = list(folder.rglob("*.nbi"))
    assert indices
    for index in indices:
        index.write_bytes(index.read_bytes()[: index.stat().st_size // 2])
    run = compiled_play(COMPILED, GNARL_CACHE=str(folder))
    assert (run.returncode, run.stdout.strip()) == (0, ""), run.stderr
