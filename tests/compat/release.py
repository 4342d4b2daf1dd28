"""Build what is released and try it where nothing else is installed.

    python tests/compat/release.py --out /tmp/release [--python python3.12 ...]

The wheel and the sdist are built twice from what is committed, and must have the same bytes. The
wheel without extras is installed for every interpreter, with the newest versions that it needs and
with the lowest that pyproject.toml allows; it has to compile, format and trace a spec, and name the
extra for what it lacks. Exit code 1 if anything is not so.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DATE = "1760000000"  # of every file in what is built
# Interpreters for which the lowest version of something was never built.
NO_WHEEL = {"numpy": {(3, 13): "2.1.0"}, "pydantic": {(3, 13): "2.8.0"}}


def run(*command: str | Path, cwd: Path = ROOT, code: int = 0, **names: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd, env={**os.environ, **names}, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != code:
        raise SystemExit(f"{command} exits {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def build(out: Path) -> Path:
    """The wheel, if two builds have the same bytes."""
    tool = venv(out / "tool", sys.executable)
    run(tool, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", "hatchling")
    found: list[dict[str, str]] = []
    for name in ("first", "second"):
        tree = out / name
        tree.mkdir()
        archive = out / f"{name}.tar"
        run("git", "archive", "-o", archive, "HEAD")
        run("tar", "xf", archive, "-C", tree)
        run(tool, "-m", "hatchling", "build", "-d", "dist", cwd=tree, SOURCE_DATE_EPOCH=DATE)
        files = sorted((tree / "dist").iterdir())
        found.append({f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files})
    if found[0] != found[1]:
        raise SystemExit(f"two builds differ: {found}")
    for name, digest in found[0].items():
        print(f"{digest}  {name}")
    return next((out / "first" / "dist").glob("*.whl"))


def venv(folder: Path, python: str) -> Path:
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def lowest(version: tuple[int, int]) -> list[str]:
    """What pyproject.toml asks for at least, as exact versions."""
    pins = []
    for need in PROJECT["project"]["dependencies"]:
        name, least = re.fullmatch(r"([\w-]+)>=([\d.]+).*", need).groups()  # type: ignore[union-attr]
        least = NO_WHEEL.get(name, {}).get(version, least)
        pins.append(f"{name}=={least}.*" if least.count(".") < 2 else f"{name}=={least}")
    return pins


def attempt(python: Path, folder: Path) -> None:
    """Compile, format, trace; and be told what training would need."""
    commands = python.parent
    folder.mkdir()
    run(commands / "gnarl-compile", "bfs", "--werror", cwd=folder)
    run(commands / "gnarl-compile", "mvc", "--emit", "python", cwd=folder)
    run(commands / "gnarl-trace", "bfs", "--why", cwd=folder)
    run(commands / "gnarl-compile", "nothing", cwd=folder, code=2)
    told = run(commands / "gnarl-train", "--spec", "bfs", cwd=folder, code=2)
    assert "pip install 'gnarl-dsl[train]'" in told, told
    (folder / "a.gnarl").write_text(
        run(commands / "gnarl-fmt", ROOT / "specs" / "bfs.gnarl", "--check", cwd=folder)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    parser.add_argument("--python", nargs="*", default=[sys.executable], help="interpreters")
    args = parser.parse_args()
    args.out.mkdir(parents=True)
    wheel = build(args.out)
    for k, python in enumerate(args.python):
        told = run(
            python, "-c", "import sys; print(sys.version_info.major, sys.version_info.minor)"
        )
        version = (int(told.split()[0]), int(told.split()[1]))
        for kind, pins in (("newest", []), ("lowest", lowest(version))):
            folder = args.out / f"{kind}-{k}"
            own = venv(folder, python)
            run(own, "-m", "pip", "install", "-q", wheel, *pins)
            attempt(own, folder / "tried")
            packages = folder / "lib" / f"python{version[0]}.{version[1]}" / "site-packages"
            size = run("du", "-sm", packages).split()[0]
            print(f"Python {version[0]}.{version[1]}, {kind}: works, {size} MB; {' '.join(pins)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
