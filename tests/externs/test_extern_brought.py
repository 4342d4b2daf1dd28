"""Where code comes from, what it draws, and whether it can be relied on."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from house import ROOT
from test_extern_hostile import SPEC, instance_of

import gnarl_dsl as gnarl
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_dsl.model import Problem
from gnarl_runtime.checks.properties.extern_answers import extern_failures
from gnarl_runtime.doctor.machine import externs
from gnarl_runtime.instances.pools import draw_pool

DRAWN = (
    SPEC.replace("extern largest", "extern ring(chords) : generator\nextern largest")
    .replace("extern largest", "extern skewed(low) : source node scalar\nextern largest")
    .replace("features\n", "features\n  w  input  node  scalar  ~ skewed(0.5)\n")
    .replace("er(n = 5, p = 0.5)", "ring(n = 60, chords = 3)")
)


@gnarl.extern
def largest_part(graph: object, removed: np.ndarray) -> float:
    return float(len(removed) - removed.sum())


@gnarl.generator
def ring(n: int, rng: np.random.Generator, chords: float) -> np.ndarray:
    adjacency = np.roll(np.eye(n, dtype=np.bool_), 1, axis=1)
    for _ in range(int(chords)):
        u, v = rng.choice(n, 2, replace=False)
        adjacency[u, v] = True
    return adjacency


@gnarl.source
def skewed(graph: object, rng: np.random.Generator, low: float) -> np.ndarray:
    return low + rng.random(graph.n) ** 3  # type: ignore[attr-defined, no-any-return]


def test_generators_and_sources_draw_the_same_in_a_pool() -> None:
    problem = gnarl.loads(DRAWN, extern=[largest_part, ring, skewed])
    pool = draw_pool(problem, count=12, seed=4)
    (family,) = families(choose_split(problem, "train", None))
    for number in range(12):
        wanted, found = draw_instance(problem, family, 4, number), pool.instance(number)
        assert np.array_equal(found.graph.adjacency, wanted.graph.adjacency)
        assert np.array_equal(found.inputs["w"], wanted.inputs["w"])
        assert 60 <= found.graph.m <= 63
        assert found.inputs["w"].min() >= 0.5


def test_a_generator_that_gives_no_graph_is_told() -> None:
    @gnarl.generator(name="ring")
    def loops(n: int, rng: object, chords: float) -> np.ndarray:
        return np.eye(n)

    problem = gnarl.loads(DRAWN, extern=[largest_part, loops, skewed])
    with pytest.raises(gnarl.ExternError, match="expected an array"):
        gnarl.draw(problem, count=1)


def test_an_installed_package_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "parts_of_mine-1.0.dist-info"
    home.mkdir()
    (tmp_path / "parts_of_mine.py").write_text(
        "import gnarl_dsl as gnarl\n\n\n@gnarl.extern\ndef largest_part(graph, removed):\n"
        "    return 3\n",
        "utf-8",
    )
    (home / "METADATA").write_text("Metadata-Version: 2.1\nName: parts-of-mine\nVersion: 1.0\n")
    (home / "entry_points.txt").write_text(
        "[gnarl.functions]\nlargest_part = parts_of_mine:largest_part\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    assert any("largest_part from parts-of-mine" in finding.text for finding in externs())
    problem = gnarl.loads(SPEC)
    game = gnarl.Interpreter(problem)
    assert game.objective(game.reset(instance_of(problem))) == -3
    own = gnarl.loads(SPEC, extern=[largest_part])  # what is given comes first
    game = gnarl.Interpreter(own)
    assert game.objective(game.reset(instance_of(own))) == -3.0


def page_problem() -> tuple[Problem, Problem]:
    """The problem of docs/extern.md, without and with the twin that it shows."""
    page = (ROOT / "docs" / "extern.md").read_text("utf-8")

    def block(name: str) -> str:
        return page.partition(f" file={name}\n")[2].partition("```")[0]

    slow: dict[str, object] = {}
    exec(block("parts.py"), slow)
    scope = {"np": np}
    exec(block("twin.py"), scope)
    function = slow["largest_part"].function  # type: ignore[attr-defined]
    fast = gnarl.extern(twin=scope["twin"], arrays=("n", "rowptr", "src"))(function)
    text = block("dismantle.gnarl")
    return (
        gnarl.loads(text, extern=[slow["largest_part"]]),
        gnarl.loads(text, extern=[fast]),
    )


def test_the_twin_of_the_page_plays_like_the_function() -> None:
    told = []
    for problem in page_problem():
        envs = gnarl.make_vec(problem, num_envs=3, nodes=8, pool=3, seed=2)
        _, info = envs.reset(seed=0)
        paid = []
        for _ in range(4):
            actions = np.argmax(info["action_mask"], axis=1)
            _, rewards, _, _, info = envs.step(actions)
            paid.append(rewards.tolist())
        told.append(paid)
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (lambda graph, removed: float(np.random.default_rng().random()), "asked the same again"),
        (lambda graph, removed: float(np.argmin(removed)), "after renaming the nodes"),
    ],
)
def test_answers_that_cannot_be_relied_on(code: object, said: str) -> None:
    problem = gnarl.loads(SPEC, extern=[gnarl.extern(name="largest_part")(code)])
    (failure,) = extern_failures(problem, 0)
    assert failure.property == "extern"
    assert said in failure.message
    assert not list(extern_failures(gnarl.loads(SPEC, extern=[largest_part]), 0))
