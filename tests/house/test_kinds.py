"""Feature types, locations and stages are objects: nobody compares their names, and one is added
by one object."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import house_map
import numpy as np
import pytest
from house import ROOT

from gnarl_compiler.describe.feature_table import feature_rows
from gnarl_compiler.graphs.instance import Instance, relabel_values
from gnarl_compiler.instances.draw import draw_split
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.loading import loads
from gnarl_dsl.model import Problem, kinds
from gnarl_dsl.model.kinds import NUMBER, TRUTH, FeatureType
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.checks.explore.small_values import assignments
from gnarl_runtime.checks.sample.sample_values import sample_inputs
from gnarl_runtime.checks.witness.candidates import smaller_instances
from gnarl_runtime.envs.draw_state import describe_state, draw_state
from gnarl_runtime.envs.interpreted import load_state
from gnarl_runtime.envs.observations import observation_space
from gnarl_runtime.instances.instance_checks import InstanceError, verify_instance
from gnarl_runtime.instances.instance_files import read_instances, write_instances
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.readers.objects import instance_from
from gnarl_runtime.viewing.choosers import expert_chooser
from gnarl_runtime.viewing.document import page_of
from gnarl_runtime.viewing.places import places_of
from gnarl_runtime.viewing.recording import record

FIELDS = {"type", "place", "stage"}
NAMES = {*kinds.TYPES, *kinds.PLACES, *kinds.STAGES, *kinds.VALUES}


def asks_a_kind(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr in FIELDS for part in ast.walk(node))


def names_a_kind(node: ast.AST | None) -> bool:
    """Whether the name of a kind stands there itself, alone or in a tuple, set, list or dict."""
    match node:
        case ast.Constant(value=str(text)):
            return text in NAMES
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(map(names_a_kind, parts))
        case ast.Dict(keys=parts):
            return any(map(names_a_kind, parts))
        case ast.MatchValue(value=value):
            return names_a_kind(value)
        case ast.MatchOr(patterns=parts) | ast.MatchSequence(patterns=parts):
            return any(map(names_a_kind, parts))
        case ast.MatchAs(pattern=pattern):
            return names_a_kind(pattern)
    return False


def compares_names(node: ast.AST) -> bool:
    """Whether a kind is told by its name: compared, matched, or looked up in a dict of names."""
    match node:
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            return any(map(asks_a_kind, sides)) and any(map(names_a_kind, sides))
        case ast.Subscript(value=table, slice=key):
            return names_a_kind(table) and asks_a_kind(key)
        case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[key, *_]):
            return names_a_kind(table) and asks_a_kind(key)
        case ast.Match(subject=subject, cases=cases):
            return asks_a_kind(subject) and any(names_a_kind(case.pattern) for case in cases)
        case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns):
            pairs = zip(names, patterns, strict=True)
            return any(name in FIELDS and names_a_kind(pattern) for name, pattern in pairs)
    return False


def comparisons(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if compares_names(node):
            yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', '?')}"


def test_no_kind_is_told_by_its_name() -> None:
    files = [path for home in house_map.PACKAGES.values() for path in house_map.files_of(home)]
    found = [place for path in files for place in comparisons(path)]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        'feature.type == "mask"',
        '"edge" != feature.place',
        'feature.stage in ("input", "oracle")',
        '(f.stage, f.place) == ("state", "node")',
        '{"scalar": 1}[feature.type]',
        '{"scalar": 1, "mask": 2}.get(feature.type, 3)',
        'match feature.type:\n    case "scalar" | "mask":\n        pass',
        'match feature:\n    case Feature(type="scalar"):\n        pass',
    ],
)
def test_the_walk_finds(line: str) -> None:
    assert any(map(compares_names, ast.walk(ast.parse(line))))


def test_the_walk_leaves_other_names_alone() -> None:
    for line in ('word.kind == "name"', "feature.place is EDGE", 'error.type == "missing"'):
        assert not any(map(compares_names, ast.walk(ast.parse(line))))


# A type of one's own is one object


SPEC = """gnarl 1
problem turning
graph undirected

features
  a     input  node   scalar  ~ uniform(0, 3)
  b     input  edge   scalar  ~ uniform(0, 3)
  c     input  graph  scalar  ~ uniform(0, 3)
  lit   input  node   mask    ~ coin(0.5)
  both  input  pair   mask    ~ coin(0.5)
  seen  state  node   mask    = false

phase turn(v)
  allow not seen[v]
  update
    seen[v] := true

horizon n rounds
objective gain = sum(x in nodes where seen[x] and lit[x]: a[x] + c)

expert near
  turn: uniform v minimising a[v]

instances er
  train 4  er(n = 6, p = 0.5)
  valid 4  er(n = 6, p = 0.5)
  test  4  er(n = 6, p = 0.5)
"""


@pytest.fixture
def turning() -> Iterator[Problem]:
    """The spec with an `angle` for every input number and a `flag` for every input truth."""
    angle = FeatureType(
        *("angle", NUMBER, NUMBER, "A turn.", "float64", "<f8", "iuf"),
        blank="0",
        law="uniform(0, 6)",
    )
    flag = FeatureType(
        *("flag", TRUTH, TRUTH, "Up or down.", "bool", "|b1", "b"), blank="false", law="coin(0.5)"
    )
    problem, own = loads(SPEC), {NUMBER: angle, TRUTH: flag}
    features = tuple(
        f.model_copy(update={"type": own[f.type.value]}) if f.stage is kinds.INPUT else f
        for f in problem.features
    )
    yield problem.model_copy(update={"features": features})
    for kind in own.values():
        del FeatureType.all[kind.name]


@pytest.fixture
def drawn(turning: Problem) -> list[Instance]:
    return list(draw_split(turning, "train", 3))


def test_a_new_type_has_arrays_and_columns(turning: Problem, drawn: list[Instance]) -> None:
    pool = pool_of(turning, drawn)
    types = {spec.name: (spec.dtype, spec.shape) for spec in pool.batch.layout.features()}
    edges = pool.batch.layout.edges
    assert types["a"] == ("float32", (3, 6))
    assert types["b"] == ("float32", (3, edges))
    assert types["c"] == ("float32", (3,))
    assert types["both"] == ("bool", (3, 6, 6))
    columns = pool.batch.layout.signature
    assert columns.names()["node"] == ("a", "lit", "seen", "last(turn)")
    assert columns.names()["graph"] == ("c", "phase=turn")
    assert {"b[src, dst]", "both[src, dst]", "both[dst, src]"} <= set(columns.names()["edge"])
    assert str(columns.observed[0]) == "node angle"
    packed = pack(pool.batch, [1])
    assert np.allclose(packed.x[:, 0], drawn[1].inputs["a"])
    assert (packed.x[:, 1] == drawn[1].inputs["lit"]).all()
    for ours, theirs in zip(pool.instances(), drawn, strict=True):
        for name, values in theirs.inputs.items():
            assert ours.inputs[name].dtype.kind == values.dtype.kind
            assert np.allclose(ours.inputs[name], values)


def test_a_new_type_is_observed(turning: Problem, drawn: list[Instance]) -> None:
    space = observation_space(layout_of(turning, 1, 6))
    assert (space["a"].shape, space["a"].dtype) == ((6,), np.float32)
    assert space["c"].shape == (1,)
    assert (space["both"].shape, space["both"].dtype) == ((6, 6), np.int8)
    batch = Batch.allocate(layout_of(turning, 1, 6))
    load_state(batch, 0, Interpreter(turning).reset(drawn[0]))
    assert np.allclose(batch.read_feature(0, "b"), drawn[0].inputs["b"])


def test_a_new_type_goes_to_a_file_and_back(
    turning: Problem, drawn: list[Instance], tmp_path: Path
) -> None:
    file = tmp_path / "turning.gnarl.npz"
    write_instances(file, turning, drawn)
    for ours, theirs in zip(read_instances(file, turning), drawn, strict=True):
        for name, values in theirs.inputs.items():
            assert ours.inputs[name].dtype == values.dtype
            assert np.array_equal(ours.inputs[name], values)
    with pytest.raises(InstanceError, match="holds `a` as input node angle, but turning has"):
        read_instances(file, loads(SPEC))


def test_a_new_type_is_read_and_verified(turning: Problem, drawn: list[Instance]) -> None:
    given = {"a": [1, 2, 3], "lit": [0, 1, 1], "c": 2, "both": np.eye(3), "b": np.zeros((3, 3))}
    read = instance_from(turning, np.zeros((3, 3), np.bool_), **given)
    assert read.inputs["a"].tolist() == [1.0, 2.0, 3.0]
    assert read.inputs["lit"].dtype == np.bool_
    with pytest.raises(InstanceError, match="`a` must hold numbers"):
        instance_from(turning, np.zeros((3, 3), np.bool_), **{**given, "a": ["x", "y", "z"]})
    for name, values, message in (
        ("a", np.full(6, np.inf), "expected a finite number"),
        ("a", np.ones((6, 6)), "one value per node"),
        ("lit", np.zeros(6), "must hold truth values"),
    ):
        wrong = Instance(
            drawn[0].graph, {**drawn[0].inputs, name: values}, drawn[0].tags, drawn[0].oracles
        )
        with pytest.raises(InstanceError, match=message):
            verify_instance(turning, wrong, "here")


def test_a_new_type_is_checked(turning: Problem, drawn: list[Instance]) -> None:
    graph, rng = drawn[0].graph, np.random.default_rng(0)
    sampled = sample_inputs(turning, graph, "ties", rng)
    small = assignments(turning, graph, 5, 0).cells
    listed = {part.feature.name: part.array(np.zeros(len(part.places), int), 6) for part in small}
    for found in (sampled, listed):
        verify_instance(turning, Instance(graph, found, drawn[0].tags), "drawn")
    smaller, _ = next(smaller_instances(turning, drawn[0]))
    verify_instance(turning, smaller, "smaller")
    turned = relabel_values(
        turning.feature("b"), drawn[0].inputs["b"], np.arange(6)[::-1], graph.adjacency
    )
    assert np.array_equal(turned, drawn[0].inputs["b"][::-1, ::-1])


def test_a_new_type_is_described_and_drawn(turning: Problem, drawn: list[Instance]) -> None:
    assert [row.type for row in feature_rows(turning)][:2] == ["angle", "angle"]
    game = Interpreter(turning)
    state = game.reset(drawn[0])
    assert "a = [" in describe_state(state)
    assert draw_state(state).shape == (480, 480, 3)
    chooser = expert_chooser(game, "near")
    recording = record(game, drawn[0], chooser, None, 0)
    told = page_of(recording, places_of(turning, drawn[0], 0), "")
    shown = [(c.name, c.type, c.value, c.single) for c in told.scene.node_features]
    assert shown[:2] == [("a", "angle", "scalar", False), ("lit", "flag", "mask", False)]
    assert told.scene.weights is not None
    assert told.scene.weights.name == "b"
