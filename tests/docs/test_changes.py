"""The changes of docs/contributing.md, each made in a copy of the packages and tried.

```python file=PATH                  a new file
```python file=PATH before="TEXT"    lines that go before the first line with that text
```python run [tables]               what must then hold; `tables`: after `make tables`
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
from house import ROOT

PAGE = ROOT / "docs" / "contributing.md"
PACKAGES = ("gnarl_dsl", "compiler", "runtime", "specs")
BLOCK = re.compile(
    r"^```\w+ (?:file=(\S+)(?: before=\"([^\n]*)\")?|run( tables)?)\n(.*?)^```$", re.M | re.S
)
MOST_FILES = {"A function on numbers": 3, "A registered algorithm": 3, "A feature type": 3}

# What the examples share: a spec with room for their lines, and short ways to play it.
FRAME = '''
from pathlib import Path

import numpy as np

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance

SPEC = """\\
gnarl 1
problem lights
  "Switch every node on."

graph undirected

features
  w   input  node  scalar  ~ uniform(0, 1)
  on  state  node  mask    = false
FEATURE

phase pick(v)
  allow not on[v]
  update
    on[v] := true

horizon n rounds
valid forall x in nodes: on[x]
correct valid
CLAUSE

instances some
  train 4  FAMILY
  valid 4  FAMILY
  test  4  FAMILY
"""


def text_of(clause="", feature="", instances="er(n = 4, p = 0.5)"):
    text = SPEC.replace("CLAUSE", clause).replace("FEATURE", f"  {feature}" * bool(feature))
    return text.replace("FAMILY", instances)


def lights(*lines, **more):
    return gnarl.loads(text_of(*lines, **more))


def weights():
    return [0.25, 0.5, 0.75, 1.0]


def complete():
    graph = Graph(False, ~np.eye(4, dtype=bool))
    return Instance(graph, {"w": np.array(weights())}, np.arange(4, dtype=np.uint64))


def ended(problem):
    game = gnarl.Interpreter(problem)
    state = game.reset(complete())
    while state.ended is None:
        state = game.step(state, int(game.mask(state).argmax())).state
    return state


def played(problem):
    """What the objective comes to: the same in the interpreter and by the rewards of kernels."""
    env = gnarl.make(problem, instances=[complete()])
    _, info = env.reset(seed=0)
    gained, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
        gained += reward
    game = gnarl.Interpreter(problem)
    start, end = game.objective(game.reset(complete())), game.objective(ended(problem))
    assert abs(gained - (end - start)) < 1e-9
    return end

'''


@dataclass(frozen=True)
class Change:
    name: str
    edits: tuple[tuple[str, str, str], ...]  # file, before which text, lines
    script: str
    tables: bool


def changes() -> list[Change]:
    text = PAGE.read_text("utf-8").split("## Eight changes, worked through")[1].split("\n## ")[0]
    found = []
    for section in text.split("\n### ")[1:]:
        name = section.partition("\n")[0]
        blocks = BLOCK.findall(section)
        edits = tuple((file, before, body) for file, before, _, body in blocks if file)
        ((tables, script),) = [(tables, body) for file, _, tables, body in blocks if not file]
        found.append(Change(name, edits, script, bool(tables)))
    return found


@pytest.mark.parametrize("change", changes(), ids=lambda change: change.name)
def test_the_change_works_as_written(change: Change, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for package in PACKAGES:
        copytree(ROOT / package, copy / package, ignore=ignore_patterns("__pycache__"))
    for file, before, lines in change.edits:
        _edit(copy / file, before, lines)
    path = os.pathsep.join(str(copy / part) for part in (".", "compiler", "runtime"))
    environment = {**os.environ, "PYTHONPATH": path, "GNARL_JIT": "off", "OMP_NUM_THREADS": "1"}
    environment |= {"GNARL_CACHE": str(tmp_path / "cache"), "GNARL_KERNEL": "torch"}
    if change.tables:
        _run(["-m", "gnarl_compiler.describe.registered_table"], copy, environment)
    _run(["-c", f"{FRAME}\n\n{change.script}"], copy, environment)


def _edit(file: Path, before: str, lines: str) -> None:
    if not before:
        assert not file.exists(), f"{file} is there already"
        file.write_text(lines, "utf-8")
        return
    old = file.read_text("utf-8").split("\n")
    place = next(k for k, line in enumerate(old) if before in line)
    old[place:place] = lines.rstrip("\n").split("\n") + ([""] if lines.endswith("\n\n") else [])
    file.write_text("\n".join(old), "utf-8")


def _run(arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_there_are_eight_and_they_are_small() -> None:
    found = changes()
    assert len(found) == 8
    for change in found:
        files = {file for file, _, _ in change.edits}
        assert len(files) <= MOST_FILES.get(change.name, 3), change.name
