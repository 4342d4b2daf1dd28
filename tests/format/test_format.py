"""gnarl-fmt's text side: canonical layout, nothing lost, formatting twice changes nothing."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from house import TESTS
from hypothesis import given, settings
from hypothesis import strategies as st
from uglifier import Uglifier, comments_of, parsed, without_comments

from gnarl_dsl.format.house_style import equal_trees, format_text
from gnarl_dsl.report.diagnostics import InternalError, SpecError
from gnarl_dsl.specs import shipped_specs
from gnarl_dsl.syntax import ast

SPECS = pytest.mark.parametrize("path", shipped_specs(), ids=lambda path: path.stem)
SEEDS = given(seed=st.integers(0, 2**32))
FEW = settings(max_examples=8)  # of each of some twenty specs


# Shipped specs


@SPECS
def test_formatting_twice_changes_nothing(path: Path) -> None:
    once = format_text(path.read_text("utf-8"))
    assert format_text(once) == once


@SPECS
def test_tree_and_comments_are_kept(path: Path) -> None:
    text = path.read_text("utf-8")
    assert equal_trees(parsed(text).tree, parsed(format_text(text)).tree)
    assert comments_of(text) == comments_of(format_text(text))


@SPECS
def test_shipped_specs_have_no_loose_ends(path: Path) -> None:
    text = format_text(path.read_text("utf-8"))
    assert text.endswith("\n")
    assert not text.startswith("\n")
    assert "\n\n\n" not in text
    assert not text.endswith("\n\n")
    assert all(line == line.rstrip() and len(line) <= 100 for line in text.split("\n"))


@SPECS
@SEEDS
@FEW
def test_bad_style_becomes_canonical(path: Path, seed: int) -> None:
    canonical = format_text(without_comments(path.read_text("utf-8")))
    assert format_text(Uglifier(canonical, seed).run()) == canonical


@SPECS
@SEEDS
@FEW
def test_comments_keep_their_order_and_lines(path: Path, seed: int) -> None:
    ugly = Uglifier(path.read_text("utf-8"), seed, comments=True, breaks=True).run()
    once = format_text(ugly)
    assert comments_of(once) == comments_of(ugly)
    assert equal_trees(parsed(ugly).tree, parsed(once).tree)
    assert format_text(once) == once


@SPECS
@SEEDS
@settings(max_examples=15)
def test_broken_specs_are_refused_or_formatted(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    pieces = re.findall(r"\s+|\w+|.", path.read_text("utf-8"))
    for _ in range(rng.randint(1, 3)):
        pieces[rng.randrange(len(pieces))] = rng.choice([*pieces, "", "("])
    try:
        once = format_text("".join(pieces))
    except SpecError:
        return
    assert format_text(once) == once


def test_bad_specs_are_refused_or_formatted() -> None:
    for path in sorted(TESTS.joinpath("bad").glob("*.gnarl")):
        text = path.read_text("utf-8", errors="replace")
        try:
            once = format_text(text)
        except SpecError:
            continue
        assert format_text(once) == once, path.name


# Rules, one by one

HEAD = "gnarl 1\nproblem test\n"
LAYOUTS = {
    "operators": (
        "let f( x:node )=-x*( a+- b )/2<=--c and not( a ) or  b [ x,y ]~=last ( p )\n",
        "let f(x: node) = -x * (a + -b) / 2 <= --c and not (a) or b[x, y] ~= last(p)\n",
    ),
    "a minus after a word that is no value": (
        "valid - 1<x\nreward r step - 1\nreward rest step ( 1 + x )\nlet a = valid -1\n",
        "valid -1 < x\nreward r     step -1\nreward rest  step (1 + x)\nlet a = valid - 1\n",
    ),
    "rewards with and without a sign": (
        "reward r potential =- 1\nreward rest step=( 1 + x )\nreward s step 1\n",
        "reward r     potential = -1\nreward rest  step      = (1 + x)\nreward s     step      1\n",
    ),
    "ranges and sets": (
        "instances i\n train 5 er( n={ 1 .. 3,7 } ,p=[0.1,1e-3] )\n validation 1000 er()\n",
        "instances i\n  train         5  er(n = {1..3, 7}, p = [0.1, 1e-3])\n"
        "  validation 1000  er()\n",
    ),
    "assignments align in runs": (
        """\
        phase p(v)
          update
            a := 1
            long[v] := 2
            if b
              c := 3
            d := 4

            much_longer := 5
        """,
        """\
        phase p(v)
          update
            a       := 1
            long[v] := 2
            if b
              c := 3
            d := 4

            much_longer := 5
        """,
    ),
    "a blank line ends a run of lets": (
        "let a = 1\nlet bcd = 2\n\n\n\nlet efghi = 3\n",
        "let a   = 1\nlet bcd = 2\n\nlet efghi = 3\n",
    ),
    "ends": (
        "terminate when a\nvalid b\n\nterminate when a\nvalid b\ncorrect c\n\n"
        "terminate when a\ncorrect c\n",
        "terminate when a\nvalid          b\n\nterminate when a\nvalid   b\ncorrect c\n\n"
        "terminate when a\ncorrect c\n",
    ),
    "continuation lines stay lined up": (
        """\
        let f(x)=a [x] and
                 (b or
                  c)
        let longer = if a
           then b
             else c
        """,
        """\
        let f(x)   = a[x] and
                     (b or
                      c)
        let longer = if a
            then b
              else c
        """,
    ),
    "a bracket that hangs": (
        "phase p(v)\n allow f(\n  a,\n  b\n ) and c\n",
        "phase p(v)\n  allow f(\n      a,\n      b\n  ) and c\n",
    ),
    "a condition over two lines": (
        "phase p(v)\n update\n  if a and\n   b\n    c := 1\n",
        "phase p(v)\n  update\n    if a and\n        b\n      c := 1\n",
    ),
    "choices of an expert": (
        "expert e\n first:\n  uniform v\n p: uniform v where a\n   else uniform v\n",
        "expert e\n  first:\n      uniform v\n  p: uniform v where a\n     else uniform v\n",
    ),
    "long texts": (
        'param a = 1 "one  \n\n  two"\nparam abc = 1 "three"\n',
        'param a = 1     "one\n\n                 two"\nparam abc = 1   "three"\n',
    ),
    "comments": (
        """\
        #first
        phase p(v)#behind

            # before update
          update
           # in update
           a := 1   # behind a
           # last in update
          # last in phase
        # about q
        phase q(v)
          # nothing in here

        # the end
        """,
        """\
        #first
        phase p(v)  #behind
          # before update
          update
            # in update
            a := 1  # behind a
            # last in update
          # last in phase
        # about q
        phase q(v)
          # nothing in here

        # the end
        """,
    ),
    "comments inside a line": (
        "let a = f(b,  # one\n   # two\n   c)  # three\n",
        "let a = f(b,  # one\n    # two\n    c)        # three\n",
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_rule(name: str) -> None:
    before, after = map(dedent, LAYOUTS[name])
    assert format_text(HEAD + before) == HEAD + after
    assert format_text(HEAD + after) == HEAD + after


def test_features_align_and_wide_values_leave_the_doc_column() -> None:
    wide = "f(" + ", ".join(["abcdef"] * 7) + ")"
    text = f"""\
features
  a input node scalar ~ given "first doc, which is long"
  bcd state node(x) mask_one = x "second"
  e state graph scalar = {wide} "third"
"""
    assert format_text(HEAD + text) == (
        HEAD
        + f"""\
features
  a    input  node     scalar    ~ given  "first doc, which is long"
  bcd  state  node(x)  mask_one  = x      "second"
  e    state  graph    scalar    = {wide}  "third"
"""
    )


def test_columns_give_way_before_lines_get_too_long() -> None:
    text = HEAD + f"let short = {'a' * 85}\nlet a_name_of_some_length(x) = b\n"
    assert format_text(text) == text


def test_line_ends_and_byte_order_marks_go() -> None:
    assert format_text("\ufeffgnarl 1\r\nproblem a\r\n") == "gnarl 1\nproblem a\n"


@pytest.mark.parametrize("text", ["", "\n \n", "  \t\n"])
def test_nothing_stays_nothing(text: str) -> None:
    assert format_text(text) == ""


def test_an_escape_never_meets_a_line_end() -> None:
    text = 'gnarl 1\nproblem a\n  "one \\ \n   two"\n'
    assert format_text(text) == text


def test_type_errors_do_not_matter() -> None:
    assert format_text(HEAD + "let a=no_such_name+true\n") == HEAD + "let a = no_such_name + true\n"


@pytest.mark.parametrize("text", ["gnarl 1\nlet a = (", "nonsense", 'gnarl 1\nproblem a\n  "'])
def test_syntax_errors_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        format_text(text)


def test_equal_trees_sees_everything_but_places() -> None:
    def tree(text: str) -> ast.Spec:
        return parsed(HEAD + text).tree

    assert equal_trees(tree("let a = b + 1\n"), tree("\nlet  a =  (b+1)  # same\n"))
    for other in ["let a = b - 1\n", "let a = c + 1\n", "let a = b + 1.0\n", "valid b + 1\n", ""]:
        assert not equal_trees(tree("let a = b + 1\n"), tree(other))


def test_a_formatter_that_changes_a_spec_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gnarl_dsl.format.house_style._print", lambda items: HEAD + "let a = 2\n")
    with pytest.raises(InternalError, match="report"):
        format_text(HEAD + "let a = 1\n")
    monkeypatch.setattr("gnarl_dsl.format.house_style._print", lambda items: HEAD)
    with pytest.raises(InternalError, match="comment"):
        format_text(HEAD + "# lost\n")


def test_the_formatter_starts_without_the_checker() -> None:
    code = (
        "import sys, gnarl_dsl.format.house_style, gnarl_runtime.commands.fmt; "
        "heavy = ('pydantic', 'gnarl_dsl.check.spec', 'numpy'); "
        "sys.exit(any(name in sys.modules for name in heavy))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
