"""Rules of the language that the checker enforces: labels, optionals, edges, loops, cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from front_end import GOOD, codes, errors, problem_of, spec, text_of, update
from shipped_specs import shipped

from gnarl_dsl import model
from gnarl_dsl.check.cost import describe
from gnarl_dsl.language.operators import OPERATORS, Operator
from gnarl_dsl.loading import check_text

# Labels: an oracle is read by correct, terminate, limit, expert, reward, metric, nothing else


ALLOW = "  allow lit(u)"
DERIVED = "  best  oracle"


def with_derived(formula: str) -> str:
    return spec(DERIVED, f"  seen  derived  node(x)  mask  = {formula}\n{DERIVED}")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (spec(ALLOW, "  allow best[u]"), "`best`"),
        (spec(ALLOW, "  allow good(u)", add="let good(x) = best[x]\n"), "`good` → `best`"),
        (
            spec(ALLOW, "  allow fine(u)", add="let good(x) = best[x]\nlet fine(x) = good(x)\n"),
            "`fine` → `good` → `best`",
        ),
        (spec(ALLOW, "  allow lit(u) and not correct"), "`correct` → `best`"),
        (spec(ALLOW, "  allow mst_weight(A) > 1"), "`mst_weight`"),
        (spec(ALLOW, "  allow exists x in nodes where best[x]: edge(x, u)"), "`best`"),
        (update("on[v] := best[v]"), "`best`"),
        (update("if best[v]", "  on[v] := true"), "`best`"),
        (update("let b = best[v]", "on[v] := b"), "`best`"),
        (update("for x in nodes where best[x]", "  on[x] := true"), "`best`"),
        (update("on[any argmin(x in nodes where best[x]: w[x]) otherwise v] := true"), "`best`"),
        (with_derived("best[x]"), "`best`"),
        (with_derived("exists y in neighbors(x): best[y]"), "`best`"),
        (spec(add="objective hit = count(x in nodes where best[x])\n"), "`best`"),
        (spec(add="objective hit = if correct then 1 else 0\n"), "`correct` → `best`"),
        (spec("horizon n rounds", "horizon count(x in nodes where best[x]) rounds"), "`best`"),
        (spec(add="valid forall x in nodes: on[x] or best[x]\n"), "`best`"),
        (spec("mask      = s[x]", "mask      = best[x]"), "`best`"),
    ],
)
def test_a_label_cannot_leak(text: str, path: str) -> None:
    checked = check_text(text)
    assert [f.code for f in checked.diagnostics if f.is_error] == ["GN401"]
    assert f"reads an oracle: {path}" in text_of(checked)


def test_an_objective_that_reads_a_label_taints_who_reads_it() -> None:
    text = spec(ALLOW, "  allow hit > 0", add="objective hit = count(x in nodes where best[x])\n")
    assert errors(text) == ["GN401", "GN401"]


@pytest.mark.parametrize(
    "clause",
    [
        "terminate when correct",
        "terminate when exists x in nodes: best[x] and on[x]",
        "limit 2 * count(x in nodes where best[x]) rounds",
        "reward r potential count(x in nodes where best[x] and on[x])",
        "metric m1 = count(x in nodes where best[x])",
        "expert e\n  from: uniform u where best[u]\n  to: uniform v maximising w[v]",
    ],
)
def test_labels_may_be_read_where_the_policy_does_not_see_them(clause: str) -> None:
    assert codes(spec(add=f"{clause}\n")) == []


def test_deployable_means_no_label_is_needed_to_end() -> None:
    assert problem_of(GOOD).deployable
    assert not problem_of(spec(add="terminate when correct\n")).deployable
    assert problem_of(spec(add="terminate when forall x in nodes: on[x]\n")).deployable
    assert not problem_of(spec(add="limit count(x in nodes where best[x]) rounds\n")).deployable


def test_a_branch_that_a_param_rules_out_reads_nothing() -> None:
    text = spec(ALLOW, "  allow if mode == cheat then best[u] else lit(u)", add="").replace(
        "graph", "param mode : fair | cheat = fair\ngraph"
    )
    assert codes(text) == []
    assert codes(text, {"mode": "cheat"}) == ["GN401"]
    statement = update("if mode == cheat", "  on[v] := best[v]", "else", "  on[v] := true").replace(
        "graph", "param mode : fair | cheat = fair\ngraph"
    )
    assert "GN401" not in codes(statement)
    assert "GN401" in codes(statement, {"mode": "cheat"})


def test_all_leaks_are_reported_at_once() -> None:
    assert errors(update("on[v] := best[v]", "on[u] := best[u]")) == ["GN401", "GN401"]


def test_oracles_may_use_each_other_but_not_themselves() -> None:
    two = spec(
        DERIVED, f"  size  oracle  graph  scalar  = count(x in nodes where best[x])\n{DERIVED}"
    )
    assert codes(two + "metric m1 = size\n") == []
    circle = spec(DERIVED, f"  size  oracle  graph  scalar  = size + 1\n{DERIVED}")
    assert codes(circle + "metric m1 = size\n") == ["GN215"]


# State before there is any


@pytest.mark.parametrize(
    "clause",
    [
        "horizon d[s] rounds",
        "limit count(x in nodes where on[x]) rounds\nhorizon n rounds",
        "horizon if last(to) == s then 1 else 2 rounds",
        "horizon lit_count rounds\nlet lit_count = count(x in nodes where on[x])",
    ],
)
def test_nothing_at_reset_reads_the_state(clause: str) -> None:
    assert errors(spec("horizon n rounds", clause)) == ["GN403"]


def test_every_early_read_is_reported() -> None:
    assert errors(spec("horizon n rounds", "horizon d[s] + d[s] * 2 rounds")) == ["GN403", "GN403"]


MUTABLE = """\
gnarl 1
problem wires
graph undirected mutable
features
  s     input   node     mask_one  ~ any_node
  old   state   node(x)  scalar    = degree(x)
  cost  oracle  graph    scalar    = count((x, y) in edges)
phase from(u)
phase to(v)
  allow not edge(u, v)
  update
    edge(u, v) := true
    old[v]     := degree(v)
horizon m + degree(s) rounds
objective wires = -m
metric built = cost + m
"""


def test_the_graph_at_reset_is_known_at_reset() -> None:
    assert codes(MUTABLE) == []


def test_a_state_read_beside_a_graph_read_is_not_overlooked() -> None:
    assert errors(MUTABLE.replace("m + degree(s)", "m * old[s]")) == ["GN403"]


# Optionals


@pytest.mark.parametrize(
    "condition",
    [
        "u == last(from)",
        "not (u == last(from))",
        "u != last(from) otherwise s",
        "last(from) == last(to)",
        "edge(u, last(to) otherwise s)",
        "on[last(to) otherwise last(from) otherwise s]",
        "u == any argmin(x in nodes where on[x]: w[x])",
    ],
)
def test_an_unset_node_may_be_compared_or_replaced(condition: str) -> None:
    assert codes(spec(ALLOW, f"  allow lit(u) and {condition}")) == []


@pytest.mark.parametrize(
    "condition",
    [
        "edge(u, last(to))",
        "on[last(to)]",
        "lit(last(to))",
        "degree(last(to)) > 1",
        "exists y in neighbors(last(to)): on[y]",
        "on[last(to) otherwise last(from)]",
        "on[if on[u] then last(to) else s]",
        "depth(pred, last(to), s) < n",
        "on[any argmax(x in nodes: w[x])]",
    ],
)
def test_any_other_use_of_an_unset_node_needs_otherwise(condition: str) -> None:
    assert errors(spec(ALLOW, f"  allow lit(u) and {condition}")) == ["GN301"]


def test_an_optional_stays_optional_through_lets() -> None:
    lets = "let before = last(to)\n"
    assert codes(spec(ALLOW, "  allow lit(u) and u == before", add=lets)) == []
    assert errors(spec(ALLOW, "  allow lit(u) and u != before", add=lets)) == ["GN305"]
    assert errors(spec(ALLOW, "  allow lit(u) and on[before]", add=lets)) == ["GN301"]
    assert errors(update("let p = last(to)", "on[v] := on[p]")) == ["GN301"]
    assert "GN301" not in codes(update("let p = last(to) otherwise v", "on[v] := on[p]"))


# Undirected edges


@pytest.mark.parametrize(
    "body",
    [
        "on[x] or on[y]",
        "on[x] == on[y]",
        "A[x, y] < 1",
        "A[y, x] < A[x, y] + 1",
        "abs(d[x] - d[y]) < 1",
        "abs(1 + d[x] - d[y] - 1) < 1 and abs(d[y] - d[x]) < 2",
        "min(d[x], d[y]) < max(d[y], d[x])",
        "min(d[x], 3, d[y]) < 4",
        "d[x] * 2 * d[y] < d[y] * d[x] * 3",
        "d[x] < d[y] or d[y] < d[x]",
        "d[x] <= d[y] or d[x] >= d[y]",
        "(on[x] and not on[y]) or (on[y] and not on[x])",
        "gap(x, y) < 1",
        "far(x, y) or far(y, x)",
        "(exists z in neighbors(x): on[z]) or (exists z in neighbors(y): on[z])",
        "forall (a, b) in edges: on[a] or on[b] or on[x] or on[y]",
        "sum(z in nodes: d[z] + d[x] + d[y]) > 1",
        "count(z in nodes where edge(x, z) and edge(z, y)) > 0",
        "pred[x] == y or pred[y] == x",
    ],
)
def test_symmetric_bodies_are_fine(body: str) -> None:
    lets = "let gap(x, y) = abs(d[x] - d[y])\nlet far(x, y) = d[x] > d[y] + 1\n"
    text = spec(add=f"{lets}valid forall (x, y) in edges: {body}\n")
    assert errors(text) == []


@pytest.mark.parametrize(
    "body",
    [
        "on[x]",
        "d[x] < d[y]",
        "d[x] - d[y] < 1",
        "on[x] and not on[y]",
        "far(x, y)",
        "pred[x] == y",
        "exists z in neighbors(x): on[z]",
        "sum(z in nodes: d[z] - d[x]) > d[y]",
        "forall (a, b) in edges: on[a] or on[b] or on[x]",
        "forall x in neighbors(y): on[x]",
        "if on[x] then on[y] else true",
        "d[x] / (d[y] + 1) < 1",
    ],
)
def test_bodies_that_tell_the_ends_apart_are_not(body: str) -> None:
    text = spec(add=f"let far(x, y) = d[x] > d[y] + 1\nvalid forall (x, y) in edges: {body}\n")
    assert errors(text) == ["GN406"]


def test_other_sets_count_for_symmetry() -> None:
    text = "objective o = count((x, y) in edges, z in neighbors({0}) where on[z])\n"
    assert errors(spec(add=text.format("x"))) == ["GN406"]
    assert errors(spec(add="objective o = count((x, y) in edges, z in nodes where on[z])\n")) == []


def test_directed_edges_have_ends() -> None:
    text = (
        GOOD.replace("graph undirected", "graph directed")
        .replace("min_vertex_cover(w)", "")
        .replace("mask      = \n", "mask\n")
    )
    assert errors(text + "valid forall (x, y) in edges: on[x] or not on[y]\n") == []


EDGE_STATE = GOOD.replace("  best ", "  gap   state   edge     scalar    = 0\n  best ")


def looped(*lines: str) -> list[str]:
    body = "".join(f"    {line}\n" for line in lines)
    return errors(EDGE_STATE.replace("    pred[v] := u\n", f"    pred[v] := u\n{body}"))


@pytest.mark.parametrize(
    "lines",
    [
        ("for (x, y) in edges", "  gap[x, y] := w[x] + w[y]"),
        ("for (x, y) in edges where on[x] and on[y]", "  gap[y, x] := 1"),
        ("for (x, y) in edges", "  let sum2 = w[x] + w[y]", "  gap[x, y] := sum2 / 2"),
        ("for (x, y) in edges", "  if on[x] or on[y]", "    gap[x, y] := 1"),
        ("for x in nodes, y in neighbors(x)", "  gap[x, y] := w[x] + w[y]"),
        ("for x in nodes, y in neighbors(x) where on[x]", "  gap[x, y] := 1"),
    ],
)
def test_symmetric_loops_are_fine(lines: tuple[str, ...]) -> None:
    assert looped(*lines) == []


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("for (x, y) in edges", "  gap[x, y] := w[x]"), "GN406"),
        (("for (x, y) in edges where on[x]", "  gap[x, y] := 1"), "GN406"),
        (("for (x, y) in edges", "  gap[x, y] := w[x]", "  gap[x, y] := w[y]"), "GN406"),
        (("for (x, y) in edges", "  let a = w[x]", "  gap[x, y] := a"), "GN406"),
        (("for x in nodes, y in neighbors(x)", "  gap[x, y] := w[x]"), "GN414"),
        (
            (
                "for x in nodes, y in neighbors(x)",
                "  if on[x]",
                "    gap[x, y] := 1",
                "  else",
                "    gap[x, y] := 2",
            ),
            "GN414",
        ),
    ],
)
def test_loops_that_tell_the_ends_apart_are_not(lines: tuple[str, ...], code: str) -> None:
    assert looped(*lines) == [code]


# Parallel loops


@pytest.mark.parametrize(
    "lines",
    [
        ("for x in nodes", "  on[x] := true"),
        ("for x in neighbors(v) where not on[x]", "  d[x] := d[x] + 1", "  pred[x] := v"),
        ("for x in nodes", "  let k = d[x]", "  if k > 1", "    on[x] := false"),
        ("for x in nodes, y in neighbors(x)", "  gap[x, y] := 1"),
    ],
)
def test_a_loop_may_write_its_own_cells(lines: tuple[str, ...]) -> None:
    assert looped(*lines) == []


@pytest.mark.parametrize(
    "lines",
    [
        ("for x in nodes", "  on[v] := true"),
        ("for x in nodes", "  on[pred[x]] := true"),
        ("for x in nodes", "  let y = pred[x]", "  on[y] := true"),
        ("for x in nodes", "  let x = s", "  on[x] := true"),
        ("for x in nodes, y in neighbors(x)", "  on[x] := true"),
        ("for x in nodes", "  if on[x]", "    on[s] := true"),
    ],
)
def test_a_loop_may_not_write_what_another_pass_could(lines: tuple[str, ...]) -> None:
    assert looped(*lines) == ["GN405"]


# Variants


BASE_LINES = {
    "param": "param k = 2",
    "let": "let spare(x) = d[x]",
    "reward": "reward r step -1",
    "metric": "metric size = n",
    "expert": "expert e\n  from: uniform u where lit(u)\n  to: uniform v",
    "instances": "instances i\n  train 1 er(n = 4, p = 1)\n  valid 1 er(n = 4, p = 1)"
    "\n  test 1 er(n = 4, p = 1)",
    "objective": "objective o = count(x in nodes where on[x])",
    "limit": "limit 9 rounds",
    "terminate": "terminate when forall x in nodes: on[x]",
    "valid": "valid forall x in nodes: on[x] or not on[x]",
}
BASE = GOOD + "".join(f"{line}\n" for line in BASE_LINES.values())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lights.gnarl").write_text(BASE)
    return tmp_path


def variant(folder: Path, *lines: str) -> model.Problem:
    text = "gnarl 1\nproblem variant extends lights\n" + "".join(f"{line}\n" for line in lines)
    checked = check_text(text, folder=folder)
    assert checked.problem is not None, text_of(checked)
    return checked.problem


def variant_codes(folder: Path, *lines: str) -> list[str]:
    text = "gnarl 1\nproblem variant extends lights\n" + "".join(f"{line}\n" for line in lines)
    return [finding.code for finding in check_text(text, folder=folder).diagnostics]


def test_a_bare_variant_is_its_base_under_another_name(folder: Path) -> None:
    problem = variant(folder)
    base = problem_of(BASE)
    assert problem.name == "variant"
    assert [f.name for f in problem.features] == [f.name for f in base.features]
    assert [e.name for e in problem.experts] == ["e"]


def test_a_clause_replaces_its_like_and_keeps_the_other(folder: Path) -> None:
    problem = variant(folder, "phase to(v)", "  update", "    on[v] := true")
    phase, base = problem.phase("to"), problem_of(BASE).phase("to")
    assert len(phase.update) == 1
    assert len(base.update) == 3
    assert isinstance(phase.allow, model.HasEdge)
    allowed = variant(folder, "phase to(v)", "  allow on[v]").phase("to")
    assert isinstance(allowed.allow, model.Read)
    assert len(allowed.update) == 3


def test_a_replaced_feature_keeps_its_place_and_a_new_one_comes_last(folder: Path) -> None:
    problem = variant(
        folder,
        "features",
        "  extra  derived  graph  scalar  = n",
        "features",
        "  d      state  node  scalar  = 7",
    )
    names = [feature.name for feature in problem.features]
    assert names == [f.name for f in problem_of(BASE).features] + ["extra"]
    initial = problem.feature("d").initial
    assert isinstance(initial, model.Number)
    assert initial.value == 7


def test_declarations_of_one_name_replace(folder: Path) -> None:
    problem = variant(
        folder, "let lit(x) = true", "horizon 2 * n rounds", "graph undirected connected"
    )
    assert isinstance(problem.let("lit").body, model.Boolean)
    assert isinstance(problem.horizon, model.Arithmetic)
    assert problem.graph.connected


def test_a_greedy_expert_replaces_a_rule_expert(folder: Path) -> None:
    assert variant(folder, "expert e = greedy o").experts[0].kind == "greedy"


@pytest.mark.parametrize(
    ("drop", "part"),
    [
        ("param k", "params"),
        ("let spare", "lets"),
        ("reward r", "rewards"),
        ("metric size", "metrics"),
        ("expert e", "experts"),
        ("instances i", "instances"),
        ("objective o", "objectives"),
        ("limit", "limit"),
        ("terminate", "terminate"),
        ("valid", "valid"),
    ],
)
def test_each_kind_can_be_dropped(folder: Path, drop: str, part: str) -> None:
    before, after = getattr(variant(folder), part), getattr(variant(folder, f"drop {drop}"), part)
    assert after is None if not isinstance(before, tuple) else len(after) == len(before) - 1


def test_features_phases_and_correct_can_be_dropped_too(folder: Path) -> None:
    problem = variant(
        folder,
        "drop correct",
        "drop feature best, pred, d, A",
        "drop let spare",
        "drop phase from",
        "drop expert e",
        "phase to(v)",
        "  allow not on[v]",
        "  update",
        "    on[v] := true",
    )
    assert [feature.name for feature in problem.features] == ["s", "w", "on"]
    assert [phase.name for phase in problem.phases] == ["to"]
    assert problem.correct is None


def test_dropping_what_is_needed_is_reported_where_it_is_used(folder: Path) -> None:
    assert set(variant_codes(folder, "drop feature d")) == {"GN201"}
    assert variant_codes(folder, "drop horizon") == ["GN006"]
    assert set(variant_codes(folder, "drop phase to")) == {"GN502"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("drop expert f", "GN118"),
        ("drop feature dd", "GN118"),
        ("drop correct it", "GN118"),
        ("drop expert", "GN137"),
        ("drop features", "GN137"),
        ("drop lamps x", "GN140"),
    ],
)
def test_bad_drops_are_reported(folder: Path, line: str, code: str) -> None:
    assert variant_codes(folder, line) == [code]


def test_circles_of_extends_are_reported(folder: Path) -> None:
    (folder / "a.gnarl").write_text("gnarl 1\nproblem a extends b\n")
    (folder / "b.gnarl").write_text("gnarl 1\nproblem b extends a\n")
    checked = check_text("gnarl 1\nproblem c extends a\n", folder=folder)
    assert [finding.code for finding in checked.diagnostics] == ["GN117"]
    assert checked.diagnostics[0].span.file == 0


def test_long_chains_of_extends_are_refused(folder: Path) -> None:
    for number in range(12):
        base = "lights" if number == 0 else f"v{number - 1}"
        (folder / f"v{number}.gnarl").write_text(f"gnarl 1\nproblem v{number} extends {base}\n")
    texts = [f"gnarl 1\nproblem top extends v{number}\n" for number in (3, 11)]
    found = [[f.code for f in check_text(text, folder=folder).diagnostics] for text in texts]
    assert found == [[], ["GN117"]]


def test_mistakes_in_a_base_are_shown_in_the_base(folder: Path) -> None:
    (folder / "lights.gnarl").write_text(BASE.replace("not best[x]", "not bset[x]"))
    checked = check_text("gnarl 1\nproblem variant extends lights\n", folder=folder)
    assert [(f.code, f.span.file) for f in checked.diagnostics] == [("GN201", 1)]
    assert "lights.gnarl:28:" in text_of(checked)


# Cost


def costs(text: str) -> model.Costs:
    return problem_of(text).costs


def test_cost_classes_of_the_good_spec() -> None:
    found = costs(spec(add="terminate when forall x in nodes: on[x]\nobjective o = n\n"))
    assert describe(found.mask) == "O(n)"
    assert describe(found.update) == "O(1)"
    assert describe(found.ending) == "O(n)"
    assert describe(found.observation) == "O(1)"
    assert describe(found.reward) == "O(1)"
    assert describe(found.step) == "O(n)"


def test_cost_of_shipped_specs() -> None:
    assert describe(shipped("bellman_ford").costs.mask) == "O(n)"
    assert describe(shipped("bfs").costs.mask) == "O(n)"
    assert describe(shipped("mvc").costs.ending) == "O(m)"
    assert describe(shipped("rgc").costs.mask) == "O(n^2)"


@pytest.mark.parametrize(
    ("formula", "cost"),
    [
        ("count(x in nodes where on[x])", "O(n)"),
        ("count((x, y) in edges where on[x] and on[y])", "O(m)"),
        ("count(x in nodes, y in neighbors(x) where on[y])", "O(n + m)"),
        ("count(x in nodes, y in nodes where on[x] or on[y])", "O(n^2)"),
        ("count(x in nodes where exists (y, z) in edges: on[x] or on[y] or on[z])", "O(n m)"),
        ("sum(x in nodes: depth(pred, x, s))", "O(n^2)"),
        ("count(x in nodes where on[x]) + count((x, y) in edges)", "O(n + m)"),
        ("count(i in 1..100 where i > n)", "O(1)"),
        ("critical_fraction(random)", "O(n^2 + n m)"),
        ("lit_nodes * 2", "O(n)"),
    ],
)
def test_cost_follows_from_the_quantifiers(formula: str, cost: str) -> None:
    lets = "let lit_nodes = count(x in nodes where on[x])\n"
    found = costs(spec(add=f"{lets}objective o = {formula}\n"))
    assert describe(found.reward) == cost


def test_steps_beyond_n_cubed_need_consent() -> None:
    text = spec(
        add="objective o = count(a in nodes, b in nodes, c in nodes, x in nodes where a != x)\n"
    )
    assert errors(text) == ["GN601"]
    checked = check_text(text, allow_costly=True)
    assert checked.problem is not None
    assert describe(checked.problem.costs.reward) == "O(n^4)"


def test_nested_ranges_are_bounded_together() -> None:
    rows = "exists i in 1..40: exists j in 1..40: d[s] > i + j"
    assert errors(spec(add=f"valid {rows}\n")) == ["GN233"]
    lets = "let row(x) = exists j in 1..40: d[x] > j\n"
    assert errors(spec(add=f"{lets}valid exists i in 1..40: row(s) and n > i\n")) == ["GN233"]
    assert errors(spec(add="valid exists i in 1..30, j in 1..30: d[s] > i + j\n")) == []


# Enum params


def with_mode(text: str) -> str:
    return text.replace("graph", "param mode : fair | cheat = fair\ngraph", 1)


def test_an_enum_param_keeps_its_value_through_lets() -> None:
    local = with_mode(
        update("let how = mode", "if how == fair", "  on[v] := true", "else", "  on[u] := true")
    )
    statements = problem_of(local).phase("to").update
    assert [(s.kind, getattr(s, "index", ())[0].name) for s in statements] == [("assign", "v")]
    named = with_mode(spec(add="let how = mode\nmetric fair_play = if how == fair then 1 else 0\n"))
    value = problem_of(named).metrics[0].value
    assert isinstance(value, model.Number)
    assert value.value == 1


def test_a_choice_for_a_function_is_known_before_the_episode() -> None:
    text = "objective r = critical_fraction({})\n"
    assert errors(spec(add=text.format("random"))) == []
    assert errors(spec(add=text.format("if n > 3 then random else targeted"))) == ["GN218"]
    assert (
        errors(with_mode(spec(add=text.format("if mode == fair then random else targeted")))) == []
    )


@pytest.mark.parametrize("value", ["if on[x] then mode else cheat", "how(x)"])
def test_a_choice_that_hangs_on_the_state_is_not_compared(value: str) -> None:
    """Choices are compared when the spec is read, where this one is not known yet."""
    lets = "let how(x) = if on[x] then mode else cheat\n"
    seen = f"metric seen = count(x in nodes where ({value}) == fair)\n"
    assert errors(with_mode(spec(add=lets + seen))) == ["GN218"]


# Functions on numbers


def test_a_function_on_numbers_is_one_row_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    half = Operator(
        *("half", 1, lambda x: x / 2, "({0} / 2)", lambda x: x.bound), whole=False, called=True
    )
    power = replace(half, name="power", arity=2, compute=pow)
    for row in (half, power):
        monkeypatch.setitem(cast("dict[str, Operator]", OPERATORS), row.name, row)
    metric = "metric m1 = {}\n"
    folded = problem_of(spec(add=metric.format("half(3) + power(2, 3)"))).metrics[0].value
    assert isinstance(folded, model.Number)
    assert folded.value == 9.5
    kept = problem_of(spec(add=metric.format("half(power(n, 2))"))).metrics[0].value
    assert isinstance(kept, model.Unary)
    assert isinstance(kept.operand, model.Arithmetic)
    assert (kept.op, kept.operand.op) == ("half", "power")
    assert codes(spec(add=metric.format("if half(n) == 2 then 1 else 0"))) == ["GN903"]
    wrong = check_text(spec(add=metric.format("half(n, n) + power(n) + half(correct)")))
    assert [f.code for f in wrong.diagnostics] == ["GN203", "GN203", "GN205"]
    assert "`half(a)`" in text_of(wrong)
    assert "`power(a, b)`" in text_of(wrong)


JOINED = """
gnarl 1
problem joined
graph {kind}
features
  A     input  {place}  scalar  ~ uniform(0, 1)
  mark  state  node     mask    = false
phase one(u)
phase two(v)
  allow {allow}
phase three(w)
  update
    mark[w] := A[u, v] > 0.5
horizon n rounds
objective marked = count(x in nodes where mark[x])
expert heavy
  one:   uniform u
  two:   uniform v maximising A[u, v]
  three: uniform w where edge(v, w) maximising A[v, w] + A[u, v]
"""


@pytest.mark.parametrize(
    ("allow", "warned"), [("edge(u, v)", 0), ("not mark[v] and edge(v, u)", 0), ("u != v", 3)]
)
def test_what_a_phase_allows_holds_in_later_phases_and_for_experts(allow: str, warned: int) -> None:
    text = JOINED.format(kind="undirected", place="edge", allow=allow)
    found = [d for d in check_text(text).diagnostics if d.code == "GN904"]
    assert len(found) == warned


LETS = """gnarl 1
problem p
graph undirected
features
  A   input  edge  scalar  ~ uniform(0, 1)
  on  state  node  mask    = false
let joined(x, y) = edge(x, y) and on[x]
let apart(a, b)  = not joined(b, a)
let either(x, y) = joined(x, y) or on[y]
phase pick(v)
  allow not on[v]
  update
    on[v] := true
horizon n rounds
correct forall x in nodes, y in nodes: {formula}
"""


@pytest.mark.parametrize(
    ("formula", "warned"),
    [
        ("joined(x, y) and A[x, y] < 1", 0),
        ("joined(y, x) and A[x, y] < 1", 0),  # undirected
        ("apart(x, y) or A[x, y] < 1", 0),
        ("either(x, y) and A[x, y] < 1", 1),
        ("joined(x, x) and A[x, y] < 1", 1),
        ("apart(x, y) and A[x, y] < 1", 1),
    ],
)
def test_a_let_that_asks_for_an_edge_is_a_guard(formula: str, warned: int) -> None:
    checked = check_text(LETS.format(formula=formula))
    codes = [d.code for d in checked.diagnostics if d.code not in ("GN901", "GN907")]
    assert codes == ["GN904"] * warned


def test_lets_that_call_each_other_are_looked_into_once() -> None:
    chain = "".join(f"let f{k}(x, y) = f{k + 1}(x, y) and f{k + 1}(y, x)\n" for k in range(40))
    text = LETS.replace("let joined", f"{chain}let f40(x, y) = edge(x, y)\nlet joined")
    checked = check_text(text.format(formula="f35(x, y) and A[x, y] < 1"), allow_costly=True)
    assert not [d for d in checked.diagnostics if d.code == "GN904"]


@pytest.mark.parametrize(
    ("graph", "start", "warned"),
    [
        ("undirected", "0", ["GN906"]),
        ("undirected", "w[x]", ["GN906"]),
        ("undirected", "sum(y in neighbors(x): w[y])", []),
        ("undirected", "around(x)", []),
        ("undirected", "degree(x)", ["GN906"]),
        ("undirected mutable", "degree(x)", []),  # as it was before the first pick
    ],
)
def test_what_is_computed_once_needs_no_update(graph: str, start: str, warned: list[str]) -> None:
    text = f"""gnarl 1
problem p
graph {graph}
features
  w   input  node     scalar  ~ uniform(0, 1)
  on  state  node     mask    = false
  d   state  node(x)  scalar  = {start}
let around(x) = max(y in nodes where edge(x, y): w[y])
phase pick(v)
  allow not on[v]
  update
    on[v] := true
horizon n rounds
objective o = sum(x in nodes where on[x]: d[x] + around(x))
"""
    found = [d.code for d in check_text(text).diagnostics]
    assert [code for code in found if code == "GN906"] == warned


@pytest.mark.parametrize(
    ("formula", "code", "advice"),
    [
        ("reachable(x, x)", "GN202", "distance(x, y) < inf"),
        ("reachable[x, x]", "GN201", "distance(x, y) < inf"),
        ("reachable", "GN201", "distance(x, y) < inf"),
        ("mod(n, 2) == 0", "GN202", "floor(a / b)"),
        ("has_cycle()", "GN202", "acyclic()"),
    ],
)
def test_words_of_others_are_told_what_to_write(formula: str, code: str, advice: str) -> None:
    text = LETS.format(formula=f"joined(x, y) or {formula}")
    (found,) = [d for d in check_text(text).diagnostics if d.is_error]
    assert found.code == code
    assert found.fix is not None
    assert advice in found.fix
