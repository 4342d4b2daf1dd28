"""What a spec says with `extern`, and what it may still call so."""

from __future__ import annotations

import pytest
from test_extern_hostile import SPEC

import gnarl_dsl as gnarl
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.model.kinds import EDGE, GRAPH, MASK, NODE, POINTER, SCALAR

NAMED = (
    """
gnarl 1
problem extern
graph undirected
param source = 1
features
  extern     state    node        mask       = false
  generator  derived  node(cost)  scalar     = if extern[cost] then preserves(source) else 0
let preserves(random : scalar) = random
phase whole(oracle_)
  allow not extern[oracle_]
  update
    extern[oracle_] := true
horizon n rounds
objective left = count(x in nodes where not extern[x])
expert extern
  whole: uniform oracle_ where not extern[oracle_]
""".lstrip()
    .replace("  oracle     state    node        mask_one   = preserves()\n", "")
    .replace("then preserves(source) else", "then preserves(source) else")
)


def test_the_words_are_ordinary_names_elsewhere() -> None:
    problem = gnarl.loads(NAMED)
    assert problem.name == "extern"
    assert [feature.name for feature in problem.features] == ["extern", "generator"]
    assert problem.externs == ()


def test_what_a_declaration_says() -> None:
    line = (
        "extern flow(w : edge scalar, s : node, k : scalar, on : mask) : node mask "
        'oracle cost(n * m + 3) random preserves(ratio)  "a cut"'
    )
    oracle = "  w  input  edge  scalar  ~ given\n  a  input  node  mask_one  ~ any_node\n"
    oracle += "  cut  oracle  node  mask  = flow(w, a, 0.5, true)\n"
    problem = gnarl.loads(SPEC.replace("extern largest", f"{oracle}{line}\nextern largest"))
    declared = problem.extern("flow")
    assert declared is not None
    assert [(p.name, p.place, p.type) for p in declared.params] == [
        ("w", EDGE, SCALAR),
        ("s", None, POINTER),
        ("k", None, SCALAR),
        ("on", None, MASK),
    ]
    assert (declared.place, declared.type, declared.oracle, declared.random) == (
        *(NODE, MASK),
        *(True, True),
    )
    assert (declared.cost, declared.level, declared.doc) == (((1, 1), (0, 0)), "ratio", "a cut")
    other = problem.extern("largest_part")
    assert other is not None
    assert (other.place, other.cost) == (GRAPH, ((1, 0), (0, 1)))


def test_meaning_and_text() -> None:
    """What it promises is part of what the problem means, its description is not."""
    here = gnarl.loads(SPEC).hash
    described = SPEC.replace("graph scalar\n", 'graph scalar  "of what is left"\n')
    assert gnarl.loads(described).hash == here
    assert gnarl.loads(SPEC.replace("graph scalar\n", "graph scalar whole\n")).hash != here
    assert format_text(SPEC.replace("(removed : node mask) :", "( removed:node mask ):")) == SPEC


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("extern largest_part(taken : node mask) : graph scalar\n", None),
        ("drop extern largest_part\n", "GN202"),
        ("drop extern another\n", "GN118"),
    ],
)
def test_variants(change: str, code: str | None, tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    (folder / "parts.gnarl").write_text(SPEC, "utf-8")
    variant = folder / "variant.gnarl"
    variant.write_text(f"gnarl 1\nproblem variant extends parts\n{change}", "utf-8")
    if code is None:
        (declared,) = gnarl.load(variant).externs
        assert declared.params[0].name == "taken"
        return
    with pytest.raises(gnarl.SpecError) as found:
        gnarl.load(variant)
    assert code in {diagnostic.code for diagnostic in found.value.diagnostics}


def test_it_may_have_the_name_of_a_registered_function() -> None:
    """What the spec declares comes first."""
    text = SPEC.replace("largest_part", "mst_weight")
    (declared,) = gnarl.loads(text).externs
    assert declared.name == "mst_weight"
