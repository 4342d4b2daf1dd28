"""Reading a spec: text and layout, error recovery, limits, the model that comes out."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from bad_specs import FOLDER, check_bad_spec
from front_end import GOOD, codes, problem_of, spec, text_of, timed_check, update
from hypothesis import given
from hypothesis import strategies as st
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_dsl.loading import Checked, check_file, check_text
from gnarl_dsl.model import Number, Problem
from gnarl_dsl.report.diagnostics import MAX_ERRORS, Collector
from gnarl_dsl.report.render import render_all, to_record
from gnarl_dsl.report.source import Source
from gnarl_dsl.specs import shipped_specs
from gnarl_dsl.syntax.parse import parse_spec
from gnarl_dsl.syntax.syntax_errors import EXAMPLES

SECONDS = 2.0
WEIGHT = "  w     input   node     scalar    ~ uniform(0, 1)"
START = "  s     input   node     mask_one  ~ any_node"


def test_the_good_spec_is_good() -> None:
    assert codes(GOOD) == []


# Text


def test_line_ends_do_not_matter() -> None:
    expected = problem_of(GOOD).hash
    for text in (GOOD.replace("\n", "\r\n"), GOOD.replace("\n", "\r")):
        assert problem_of(text).hash == expected


def test_places_are_the_same_with_other_line_ends() -> None:
    bad = spec("not best[x]", "not bset[x]")
    assert text_of(check_text(bad.replace("\n", "\r\n"))) == text_of(check_text(bad))


def test_byte_order_mark_is_skipped() -> None:
    assert codes("\ufeff" + GOOD) == []


def test_final_newline_may_be_missing() -> None:
    assert problem_of(GOOD.rstrip("\n")).hash == problem_of(GOOD).hash


def test_spaces_at_line_ends_and_tabs_between_words_are_fine() -> None:
    assert codes(GOOD.replace("\n", "   \n")) == []
    assert codes(GOOD.replace("state   node", "state\tnode")) == []


def test_blank_lines_and_comments_may_stand_anywhere() -> None:
    lines = GOOD.splitlines()
    for filler in ("", "   ", "# a note", "      # an indented note", "\t", "\t# tab, then note"):
        text = "\n".join(part for line in lines for part in (line, filler))
        assert problem_of(text).hash == problem_of(GOOD).hash, filler


def test_a_comment_may_interrupt_a_continued_line() -> None:
    text = spec(
        "correct forall x in nodes: on[x] or not best[x]",
        "correct forall x in nodes:  # every node\n  # is lit\n\n    on[x]\n    or not best[x]",
    )
    assert problem_of(text).hash == problem_of(GOOD).hash


def test_unicode_in_comments_and_texts() -> None:
    doc = "Schalte jeden Knoten an: ∀x ∈ V. 灯 🔦"
    assert problem_of(spec("Switch every node on.", doc, add="# δ ≤ ∞\n")).doc == doc


def test_a_text_may_span_indented_lines_and_hold_quotes() -> None:
    text = spec('"Switch every node on."', '"Switch\n   every \\"node\\"\n   on: \\\\o/."')
    assert problem_of(text).doc == 'Switch every "node" on: \\o/.'


def test_carets_stand_under_wide_characters() -> None:
    text = spec("not best[x]", "not bset[x]", add="").replace("correct", "correct ")
    wide = text.replace("forall x in nodes:", 'forall x in nodes: "灯灯" and')
    excerpt = text_of(check_text(wide)).splitlines()
    line, carets = next((a, b) for a, b in pairwise(excerpt) if "灯灯" in a)
    columns = sum(2 if char == "灯" else 1 for char in line[: line.index('"灯灯"')])
    assert carets.index("^") == columns


@pytest.mark.parametrize("block", EXAMPLES)
def test_examples_shown_to_users_are_right(block: str) -> None:
    wrappers = {"allow": 1, "update": 1, "if": 2, "else": 2, "for": 2}
    text, depth = EXAMPLES[block], wrappers.get(block, 0)
    lines = [("  " * depth) + line for line in text.splitlines()]
    opening = ["phase p(v)", "  update"][:depth]
    found = Collector()
    parse_spec(Source("example", "\n".join([*opening, *lines])), 0, found)
    assert not list(found)


# Recovery


def test_ten_mistakes_in_one_run() -> None:
    checked = check_bad_spec(FOLDER / "ten_mistakes.gnarl")
    found = [finding.code for finding in checked.diagnostics]
    assert len(found) == len(set(found)) == 10


def test_an_error_in_one_block_hides_nothing_elsewhere() -> None:
    text = spec("let lit(x) = on[x] or x == s", "let lit(x) = on[x] or or x == s")
    assert codes(text) == ["GN006"]
    both = text.replace("correct forall x in nodes:", "correct forall x in nods:")
    assert codes(both) == ["GN006", "GN217"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  on    state   node(x)  mask      = s[x]", "  on    state , node(x)  mask      = s[x]"),
        ("features", "feature"),
        ("graph undirected", "graph undirected ,"),
        ("phase from(u)", "phase from(u):"),
        ("phase to(v)", "phase to v"),
        ("  update\n", "  update:\n"),
        ("let lit(x)", "let lit(x"),
        ("let lit(x) =", "lte lit(x) ="),
        ("horizon n rounds", "horizon n n rounds"),
        ("problem lights", "problem lights!"),
        ("gnarl 1", "gnarl one"),
        ("    on[v]   := true", "    on[v]   = true"),
        ('"Switch every node on."', '"Switch every node on.'),
        (WEIGHT, "  w input node scalar ~ uniform(0, 1"),
        (WEIGHT, '  w input node scalar ~ given "the'),
        (WEIGHT, "  w input"),
        (WEIGHT, "  w input node number ~ given"),
        (WEIGHT, "   w input node scalar ~ given"),
    ],
)
def test_one_slip_gives_one_message(old: str, new: str) -> None:
    """What a broken line would have declared is not reported where it is used."""
    assert len(codes(spec(old, new))) == 1


def test_every_broken_line_of_a_block_is_reported() -> None:
    text = spec("    d[v]    := d[u] + A[u, v]", "    d[v]    := d[u] +").replace(
        "    pred[v] := u", "    pred[v] = u"
    )
    assert codes(text) == ["GN006", "GN018"]


def test_errors_are_found_in_what_is_left_of_a_broken_block() -> None:
    text = spec("  allow edge(u, v)", "  allow edge(u, v) )").replace("d[u] + A", "dd[u] + A")
    assert codes(text) == ["GN006", "GN201"]


def test_a_variant_whose_base_is_missing_is_not_full_of_unknown_names() -> None:
    text = """\
        gnarl 1
        problem variant extends nowhere_to_be_found
        let cost(x) = weight[x] + penalty(x)
        phase add(v)
          update
            chosen[v] := true
        drop expert optimal
        """.replace("        ", "")
    assert codes(text) == ["GN116"]


def test_a_newer_language_is_reported_alone() -> None:
    assert codes(spec("gnarl 1", "gnarl 7") + "maximise everything\n") == ["GN013"]


def test_unused_warnings_wait_until_there_are_no_errors() -> None:
    text = spec(add="let spare(x) = on[x]\n")
    assert codes(text) == ["GN901"]
    assert codes(text.replace("horizon n rounds", "horizon nn rounds")) == ["GN201"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("bset", "best"),
        ("bes", "best"),
        ("beest", "best"),
        ("Best", "best"),
        ("onn", "on"),
        ("prde", "pred"),
    ],
)
def test_a_close_name_is_suggested(wrong: str, right: str) -> None:
    checked = check_text(spec("not best[x]", f"not {wrong}[x]"))
    assert f"Did you mean `{right}`?" in text_of(checked)


def test_no_name_is_suggested_when_none_is_close() -> None:
    assert "Did you mean" not in text_of(check_text(spec("not best[x]", "not optimum[x]")))


# Limits


def nested(depth: int, opening: str = "(", closing: str = ")") -> str:
    return spec("on[x] or x == s", f"{opening * depth}on[x]{closing * depth}")


def test_a_hundred_levels_are_enough() -> None:
    assert "GN009" not in codes(nested(98))
    assert codes(nested(101)) == ["GN009"]
    assert codes(nested(120, "not ", "")) == ["GN009"]


def test_blocks_nest_a_hundred_levels_too() -> None:
    lines = [f"{'  ' * depth}if on[v]" for depth in range(120)]
    assert codes(update(*lines, "  " * 120 + "on[v] := true")) == ["GN009"]


@pytest.mark.parametrize("depth", [95, 5_000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("not ", ""), ("not (", ")"), ("exists y in nodes: ", ""), ("min(1, ", ")")],
)
def test_deep_nesting_is_answered_quickly(depth: int, opening: str, closing: str) -> None:
    checked, seconds = timed_check(nested(depth, opening, closing))
    assert seconds < SECONDS
    assert (depth > 100) == any(f.code in ("GN009", "GN010") for f in checked.diagnostics)


LONG = "x" * 400_000


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD + "\n" * 20_000, id="20,000 lines"),
        pytest.param(GOOD + f"let f(x) = {' and '.join(['on[x]'] * 50_000)}\n", id="and"),
        pytest.param(GOOD + f"let f(x) = {' '.join(['on'] * 150_000)}\n", id="names"),
        pytest.param(GOOD + f"let f = {LONG}\n", id="one name"),
        pytest.param(GOOD + f"let f = {'9' * 400_000}\n", id="one number"),
        pytest.param(GOOD + f'param p = 1 "{LONG}"\n', id="one text"),
        pytest.param(GOOD + f"# {LONG}\n", id="one comment"),
        pytest.param(GOOD + " " * 400_000 + "x\n", id="spaces"),
        pytest.param(GOOD + "$ " * 200_000 + "\n", id="signs"),
        pytest.param(GOOD + "'" * 400_000 + "\n", id="quotes"),
        pytest.param(GOOD + "é " * 200_000 + "\n", id="letters"),
        pytest.param(GOOD + "\x07" * 400_000 + "\n", id="bells"),
        pytest.param(GOOD + "let f = " + "[" * 400_000 + "\n", id="brackets"),
    ],
)
def test_large_texts_are_answered_quickly(text: str) -> None:
    checked, seconds = timed_check(text)
    assert seconds < SECONDS
    assert len(render_all(checked.diagnostics, checked.sources)) < 100_000


def chained(count: int, step: int) -> str:
    """Lets that use the one before, or (step -1) the one after."""
    ends = {0: "n"} if step > 0 else {count - 1: "n"}
    bodies = (ends.get(i, f"a{i - step} + 1") for i in range(count))
    return GOOD + "".join(f"let a{i} = {body}\n" for i, body in enumerate(bodies))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(chained(3_000, 1), {"GN901"}, id="lets"),
        pytest.param(chained(3_000, -1), {"GN901"}, id="lets backwards"),
        pytest.param(
            GOOD + "".join(f"let a{i} = a{(i + 1) % 3000} + 1\n" for i in range(3_000)),
            {"GN215"},
            id="lets in a circle",
        ),
        pytest.param(
            GOOD + "".join(f"let a{i} = {'(' * 90}a{(i + 1) % 90}{')' * 90}\n" for i in range(90)),
            {"GN215"},
            id="deep lets in a circle",
        ),
        pytest.param(
            GOOD + "".join(f"let a{i} = b{i}\n" for i in range(4_000)),
            {"GN201", "GN023"},
            id="unknown names",
        ),
        pytest.param(
            GOOD + "".join(f"phase p{i}(v{i})\n" for i in range(3_000)), {"GN138"}, id="phases"
        ),
        pytest.param(
            GOOD + f"let f = forall {', '.join(f'a{i} in nodes' for i in range(5_000))}: true\n",
            {"GN138"},
            id="binders",
        ),
        pytest.param(
            GOOD + f"let f({', '.join(f'a{i}' for i in range(9_000))}) = true\n",
            {"GN138"},
            id="parameters",
        ),
        pytest.param(
            GOOD + "features\n" + "".join(f"  f{i} state node = = 0\n" for i in range(4_000)),
            {"GN006"},
            id="broken lines",
        ),
        pytest.param(
            GOOD + f"instances i\n  test 1 er(n = {{{', '.join(['1..999'] * 4_000)}}}, p = 1)\n",
            {"GN132", "GN142"},
            id="long list",
        ),
    ],
)
def test_many_of_anything_is_answered_quickly(text: str, expected: set[str]) -> None:
    checked, seconds = timed_check(text)
    assert seconds < SECONDS
    assert {finding.code for finding in checked.diagnostics} == expected


def test_long_chains_of_and_are_fine() -> None:
    text = spec("on[x] or x == s", " and ".join(["on[x]"] * 3_000))
    assert codes(text) == []


def test_checking_stops_after_a_hundred_errors() -> None:
    found = codes(GOOD + "".join(f"let a{i} = b{i}\n" for i in range(300)))
    assert found == ["GN201"] * MAX_ERRORS + ["GN023"]


def test_files_and_texts_have_a_largest_size(tmp_path: Path) -> None:
    path = tmp_path / "large.gnarl"
    path.write_text(GOOD + "#" * 500_000)
    assert [finding.code for finding in check_file(path).diagnostics] == ["GN010"]
    assert codes(GOOD + "#" * 500_000) == ["GN010"]


# What comes out


@pytest.mark.parametrize("name", SHIPPED)
def test_json_round_trip(name: str) -> None:
    problem = shipped(name)
    assert Problem.model_validate_json(problem.model_dump_json()) == problem


def test_json_round_trip_of_unusual_values() -> None:
    text = spec("horizon n rounds", "limit inf rounds\nhorizon 1e30 * 0.1 + 1 / 3 rounds")
    text = text.replace("graph", "param inf_like : nan | infinity = nan\ngraph", 1)
    problem = problem_of(text + "reward r step if inf_like == nan then -0.0 else 1\n")
    assert Problem.model_validate_json(problem.model_dump_json()) == problem


@pytest.mark.parametrize(
    "formula",
    [
        "not (" * 90 + "on[x]" + ")" * 90,
        "on[" + "pred[" * 90 + "x" + "]" * 91,
        "on[x] and (not on[x] or (" * 45 + "on[x]" + "))" * 45,
    ],
)
def test_json_round_trip_of_deep_formulas(formula: str) -> None:
    problem = problem_of(spec("on[x] or x == s", formula))
    assert Problem.model_validate_json(problem.model_dump_json()) == problem


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "# a comment\n"),
        ('"Switch every node on."', '"Lights on!"'),
        (START, '  s input node mask_one ~ any_node "start"'),
        ("correct forall x in nodes: on[x]", "correct\n  forall x in nodes:\n    on[x]"),
        ("on[x] or x == s", "((on[x]) or (x == s))"),
        ("\n\nlet", "\nlet"),
    ],
)
def test_hash_ignores_form(old: str, new: str) -> None:
    assert problem_of(spec(old, new)).hash == problem_of(GOOD).hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("horizon n rounds", "horizon n + 1 rounds"),
        ("on[x] or x == s", "on[x] and x == s"),
        ("on[x] or x == s", "x == s or on[x]"),
        ("scalar    = 0", "scalar    = 1"),
        ("uniform(0, 1)", "uniform(0, 2)"),
        ("graph undirected", "graph undirected connected"),
        ("on[v]   := true", "on[u]   := true"),
        ("problem lights", "problem lamps"),
        ("mask_one  ~ any_node", "mask_one  ~ given"),
    ],
)
def test_hash_tells_behaviour_apart(old: str, new: str) -> None:
    assert problem_of(spec(old, new)).hash != problem_of(GOOD).hash


def test_hash_depends_on_params() -> None:
    text = spec("horizon n rounds", "horizon k * n rounds").replace("graph", "param k = 2\ngraph")
    assert problem_of(text, {"k": "3"}).hash != problem_of(text).hash
    assert problem_of(text, {"k": "2"}).hash == problem_of(text).hash


# Params

WITH_PARAMS = spec("horizon n rounds", "horizon if mode == short then k else k * n rounds").replace(
    "graph undirected", "param k = 2\nparam mode : short | long = long\ngraph undirected"
)


def test_params_change_the_problem() -> None:
    plain = problem_of(WITH_PARAMS, {"mode": "short", "k": "-1.5e1"})
    assert {param.name: param.value for param in plain.params} == {"k": -15.0, "mode": "short"}
    assert isinstance(plain.horizon, Number)
    assert plain.horizon.value == -15


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"kk": "3"}, "GN127"),
        ({"k": "three"}, "GN114"),
        ({"k": "nan"}, "GN114"),
        ({"k": "inf"}, "GN114"),
        ({"k": ""}, "GN114"),
        ({"mode": "shrt"}, "GN114"),
        ({"mode": "3"}, "GN114"),
    ],
)
def test_bad_params_are_reported(params: dict[str, str], code: str) -> None:
    assert codes(WITH_PARAMS, params) == [code]


def test_load_takes_params_and_raises_with_the_whole_text() -> None:
    assert gnarl.load("rgc", removal="targeted").params[0].value == "targeted"
    with pytest.raises(gnarl.SpecError, match=r"error GN114[\s\S]*Did you mean `targeted`"):
        gnarl.load("rgc", removal="targetted")
    with pytest.raises(gnarl.SpecError, match="GN012"):
        gnarl.loads("")


def test_stop_settled_makes_bellman_ford_deployable() -> None:
    assert not shipped("bellman_ford").deployable
    assert shipped("bellman_ford", stop="settled").deployable


# Tools


def test_records_for_tools_count_in_utf_16() -> None:
    text = "gnarl 1\nproblem p  # 🔦\ngraph undirected 🔦 conected\n"
    checked = check_text(text)
    record = next(
        to_record(finding, checked.sources)
        for finding in checked.diagnostics
        if finding.code == "GN002"
    )
    assert record["range"] == {
        "start": {"line": 2, "character": 17},
        "end": {"line": 2, "character": 19},
    }
    assert record["severity"] == "error"


def test_check_file_names_the_file_as_given() -> None:
    checked = check_file(shipped_specs()[0])
    assert checked.sources[0].name == str(shipped_specs()[0])


def test_warnings_about_a_base_are_its_own_business(tmp_path: Path) -> None:
    (tmp_path / "base.gnarl").write_text(spec(add="let spare(x) = d[x] == w[x]\n"))
    variant = tmp_path / "variant.gnarl"
    variant.write_text("gnarl 1\nproblem variant extends base\n")
    assert [f.code for f in check_file(tmp_path / "base.gnarl").diagnostics] == ["GN901", "GN903"]
    assert check_file(variant).diagnostics == ()


# Anything at all


def assert_is_answered(checked: Checked) -> None:
    has_errors = any(finding.is_error for finding in checked.diagnostics)
    assert has_errors == (checked.problem is None)
    render_all(checked.diagnostics, checked.sources)


@given(st.text(max_size=300))
def test_any_text_is_answered(text: str) -> None:
    assert_is_answered(check_text(text))


WORDS = sorted({word for path in shipped_specs() for word in path.read_text("utf-8").split()})


@given(st.lists(st.sampled_from([*WORDS, "\n", "\n  ", "\n    ", "(", ")", "[", "]"]), max_size=60))
def test_any_words_are_answered(words: list[str]) -> None:
    assert_is_answered(check_text(" ".join(words)))
    assert_is_answered(check_text(GOOD + " ".join(words)))


@given(st.binary(max_size=200))
def test_any_bytes_are_answered(data: bytes) -> None:
    assert_is_answered(check_text(data.decode("utf-8", "surrogateescape")))
    assert_is_answered(check_text(data.decode("latin-1")))


@given(st.text(max_size=40))
def test_loads_raises_only_spec_errors(text: str) -> None:
    with pytest.raises(gnarl.SpecError):
        gnarl.loads(text)


def test_the_sign_of_a_reward_may_be_left_out() -> None:
    lines = "reward paid step{} (1)\nreward left terminal{} -count(x in nodes where on[x])\n"
    text = spec("horizon n rounds", "horizon n rounds")
    bare, signed = (problem_of(text + lines.format(*[sign] * 2)) for sign in ("", " ="))
    assert bare.hash == signed.hash
    assert [reward.kind for reward in signed.rewards] == ["step", "terminal"]
