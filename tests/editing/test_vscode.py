"""The extension for VS Code: built, packed, and its messages sent to the real language server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from house import ROOT

FOLDER = ROOT / "editors" / "vscode"
PACKAGE = json.loads((FOLDER / "package.json").read_text("utf-8"))


def run(*words: str, folder: Path = FOLDER, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **more},
    )


def bring_packages() -> None:
    """What the lock file names, from the registry or from npm's own cache."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("no node and npm on this machine: the extension for VS Code is not built")
    there = FOLDER / "node_modules" / ".package-lock.json"
    lock = FOLDER / "package-lock.json"
    if not there.is_file() or there.stat().st_mtime < lock.stat().st_mtime:
        flags = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
        done = run("npm", "ci", *flags)
        if done.returncode:
            pytest.skip(f"npm cannot bring what the extension is built from: {done.stderr[-300:]}")


def test_it_is_built_and_packed_and_speaks_with_the_server(tmp_path: Path) -> None:
    bring_packages()
    built = run("npm", "run", "build")
    assert built.returncode == 0, built.stderr
    packed = run(sys.executable, "make_vsix.py")
    assert packed.returncode == 0, packed.stderr
    verify_package(FOLDER / f"gnarl-{PACKAGE['version']}.vsix")
    # The command as an editor finds it, of the environment that the tests run in.
    server = tmp_path / "gnarl-lsp"
    server.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m gnarl_runtime.commands.lsp "$@"\n', "utf-8"
    )
    server.chmod(0o755)
    tested = run("node", "--test", "test/server.test.js", GNARL_LSP=str(server))
    assert tested.returncode == 0, tested.stdout[-3000:] + tested.stderr[-3000:]


def verify_package(file: Path) -> None:
    """All that the manifest names is inside, and the extension needs nothing else."""
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        manifest = ElementTree.fromstring(archive.read("extension.vsixmanifest"))
        script = archive.read("extension/dist/extension.js").decode()
        package = json.loads(archive.read("extension/package.json"))
    assets = [own.attrib["Path"] for own in manifest.iter() if own.tag.endswith("}Asset")]
    assert set(assets) <= names
    grammars = [own["path"] for own in package["contributes"]["grammars"]]
    assert {f"extension/{own.removeprefix('./')}" for own in [*grammars, package["main"]]} <= names
    outside = set(re.findall(r'require\("([^"./][^"]*)"\)', script))
    node = {
        "child_process",
        "crypto",
        "fs",
        "net",
        "os",
        "path",
        "url",
        "util",
        "process",
        "readline",
    }
    assert {name.removeprefix("node:") for name in outside} <= {*node, "vscode"}


def test_the_lock_names_what_the_package_asks_for() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text("utf-8"))
    assert lock["packages"][""]["devDependencies"] == PACKAGE["devDependencies"]
    for name, version in PACKAGE["devDependencies"].items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
        assert re.fullmatch(r"[0-9.]+", version)
