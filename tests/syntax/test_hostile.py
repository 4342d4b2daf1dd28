"""Opening somebody else's file runs nothing, opens nothing else, and can't fool a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from front_end import GOOD, codes, spec, text_of, timed_check
from hypothesis import given
from hypothesis import strategies as st

from gnarl_dsl import loading
from gnarl_dsl.loading import check_file, check_text, read_source
from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.render import render_all, to_record

ATTACKS = {
    "import": "import os\nos.system('touch /tmp/owned')\n",
    "dunder let": "let __import__(x) = on[x]\n",
    "dunder call": "let f = __import__(os)\n",
    "eval": "metric m1 = eval(__builtins__)\n",
    "extern": "extern evil.py\n",
    "attribute": "metric m1 = n.__class__.__bases__\n",
    "format in text": 'param p1 = 1 "{0.__class__} {name} %s %(x)s ${HOME} `id`"\n',
    "format in name": "let {0} = 1\n",
    "template": "reward r step {{7 * 7}}\n",
    "shell": "metric m1 = $(touch /tmp/owned)\n",
    "dunder class": "expert __class__\n  from: uniform u\n  to: uniform v\n",
    "dunder feature": "features\n  __dict__  state  node  scalar  = 0\n",
    "dunder param": "param __file__ = 3\n",
    "nul": "metric m1 = n\0 + 1\n",
}


WATCHED = """
import json, sys
from gnarl_dsl.loading import check_text
from gnarl_dsl.report.render import render_all

events = []

def watch(event, args):
    if watching and event.split(".")[0] in REFUSED:
        events.append(f"{event} {str(args)[:80]}")

REFUSED = {"exec", "compile", "import", "open", "os", "subprocess", "socket", "shutil", "ctypes"}
watching = False
sys.addaudithook(watch)
for text in json.load(sys.stdin):
    for watching in (False, True):  # whatever is imported on first use is imported first
        checked = check_text(text)
        render_all(checked.diagnostics, checked.sources)
    watching = False
print(json.dumps(events))
"""


def test_checking_runs_and_opens_nothing() -> None:
    texts = [GOOD, *(GOOD + attack for attack in ATTACKS.values())]
    run = subprocess.run(
        [sys.executable, "-c", WATCHED],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(run.stdout) == []


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_ordinary_mistakes(name: str) -> None:
    checked = check_text(GOOD + ATTACKS[name])
    harmless = ("dunder let", "format in text", "dunder class", "dunder feature", "dunder param")
    assert (checked.problem is not None) == (name in harmless)
    assert "Traceback" not in text_of(checked)


def test_what_a_value_says_is_never_filled_in_again() -> None:
    text = spec("gnarl 1", "gnarl 1\n# x").replace("graph", "param p1 = 1\ngraph", 1)
    checked = check_text(text, params={"p1": "{name} {expected} {0.__class__}"})
    assert "`p1` was set to `{name} {expected} {0.__class__}`" in text_of(checked)


# Names that look like paths


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        "a/b",
        "C:\\secret",
        "file\0name",
        "~root",
        "$HOME",
        '"mvc"',
        "mvc.gnarl",
        "http://example.org/x",
        "a" * 300,
        "a" * 300_000,
    ],
)
def test_extends_takes_no_paths(name: str, tmp_path: Path) -> None:
    (tmp_path / "b.gnarl").write_text(GOOD)
    checked = check_text(f"gnarl 1\nproblem p extends {name}\n", folder=tmp_path)
    assert checked.problem is None
    assert len(checked.sources) == 1


@pytest.mark.parametrize("name", ["../p", "a.b", "p\x1b[2J", "p\u202e", "p q", "-rf", "p;rm"])
def test_problem_names_are_plain_words(name: str) -> None:
    assert check_text(spec("problem lights", f"problem {name}")).problem is None


def test_extends_stays_in_its_folder_and_the_shipped_specs(tmp_path: Path) -> None:
    (tmp_path / "above.gnarl").write_text(GOOD)
    inner = tmp_path / "inner"
    inner.mkdir()
    assert [
        finding.code
        for finding in check_text("gnarl 1\nproblem p extends above\n", folder=inner).diagnostics
    ] == ["GN116"]


def test_a_base_that_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.gnarl").mkdir()
    os.mkfifo(tmp_path / "pipe.gnarl")
    (tmp_path / "dangling.gnarl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop.gnarl").symlink_to(tmp_path / "loop.gnarl")
    for name in ("folder", "pipe", "dangling", "loop"):
        checked = check_text(f"gnarl 1\nproblem p extends {name}\n", folder=tmp_path)
        assert [finding.code for finding in checked.diagnostics] == ["GN116"], name


def test_a_base_that_cannot_be_opened_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.gnarl").write_text(GOOD)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(loading, "read_source", refuse)
    checked = check_text("gnarl 1\nproblem p extends secret\n", folder=tmp_path)
    assert [finding.code for finding in checked.diagnostics] == ["GN116"]
    assert "Permission denied" in text_of(checked)


# Files


def test_other_things_than_files_are_the_callers_business(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path, pipe, tmp_path / "missing", Path("/dev/zero")):
        with pytest.raises(OSError, match=r".+"):
            check_file(path)


def test_a_link_is_read_like_its_file(tmp_path: Path) -> None:
    (tmp_path / "real.gnarl").write_text(GOOD)
    (tmp_path / "link.gnarl").symlink_to(tmp_path / "real.gnarl")
    assert check_file(tmp_path / "link.gnarl").problem is not None


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.gnarl"
    with path.open("wb") as file:
        file.truncate(10**11)  # sparse: takes no room
    checked = check_file(path)
    assert [finding.code for finding in checked.diagnostics] == ["GN010"]
    assert "100,000,000,000" in text_of(checked)


def test_unreadable_bytes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "binary.gnarl"
    path.write_bytes(b"gnarl 1\nproblem \xff\xfe\n")
    found = Collector()
    assert read_source(path, found) is None
    assert [(f.code, f.values["line"], f.values["byte"]) for f in found] == [("GN001", "2", "0xff")]


# Numbers


@pytest.mark.parametrize(
    "number",
    [
        "1e999",
        "1e31",
        "9" * 5_000,
        "1" + "0" * 400,
        "0." + "1" * 5_000 + "e400",
        "1e" + "9" * 4_000,
    ],
)
@pytest.mark.parametrize(
    "clause",
    [
        "horizon {} rounds",
        "horizon n rounds\nmetric m1 = {}",
        "horizon n rounds\nparam p1 = {}",
        "horizon n rounds\nparam p1 = -{}",
        "horizon n rounds\ninstances i\n  train {} er(n = 4, p = 1)",
        "horizon n rounds\ninstances i\n  train 1 er(n = {}, p = 1)",
        "horizon n rounds\ninstances i\n  train 1 er(n = {{1..{}}}, p = 1)",
        "horizon n rounds\ninstances i\n  train 1 er(n = 4, p = [0, {}])",
        "horizon n rounds\nvalid exists i in 0..{}: d[s] > i",
        "horizon n rounds\nfeatures\n  c  state  node  categorical({})  = 0",
        "horizon n rounds\nfeatures\n  c  input  node  scalar  ~ uniform(0, {})",
    ],
)
def test_huge_numbers_are_answered(clause: str, number: str) -> None:
    checked, seconds = timed_check(spec("horizon n rounds", clause.format(number)))
    assert checked.problem is None
    assert seconds < 1
    assert len(text_of(checked)) < 3_000


@pytest.mark.parametrize("number", ["1e999", "9" * 5_000, "1e-999"])
def test_huge_versions_are_answered(number: str) -> None:
    assert codes(spec("gnarl 1", f"gnarl {number}")) in (["GN013"], ["GN021"])


def test_numbers_that_round_to_zero_are_zero() -> None:
    assert "GN905" in codes(spec("horizon n rounds", "horizon n / 1e-999 rounds"))


# Terminals

SEQUENCES = ["\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\x08\x08", "\r", "\x00", "\u202e", "\u2066"]


def steering(text: str) -> list[str]:
    return [char for char in text if char != "\n" and not char.isprintable()]


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize(
    "place",
    [
        'problem lights\n  "text {}"',
        "problem lights  # comment {}",
        "problem li{}ghts",
        "problem lights\nlet f = no_such_name{}",
        "problem lights\nlet f = {} no_such_name",
        "problem lights\nlet f = 'quoted {} text'",
        'problem lights\nlet f = "never closed {}',
        "problem lights\n{}nonsense",
    ],
)
def test_no_control_character_reaches_the_terminal(place: str, sequence: str) -> None:
    checked = check_text(spec("problem lights", place.format(sequence)))
    assert steering(text_of(checked)) == []
    if "\r" not in sequence:
        assert checked.problem is None


@given(st.text(alphabet=st.characters(max_codepoint=0x2100), max_size=60))
def test_rendered_text_is_always_printable(noise: str) -> None:
    checked = check_text(GOOD + noise)
    assert steering(text_of(checked)) == []
    for finding in checked.diagnostics:
        to_record(finding, checked.sources)


def test_file_names_and_params_are_made_printable() -> None:
    checked = check_text("nonsense", name="evil\x1b[2J.gnarl")
    assert steering(render_all(checked.diagnostics, checked.sources)) == []
    checked = check_text(
        spec("graph", "param p1 = 1\ngraph"), params={"p1": "\x1b[2J", "\x07": "1"}
    )
    assert steering(render_all(checked.diagnostics, checked.sources)) == []


# Weight

HEAVY = {"torch", "numpy", "scipy", "networkx", "gymnasium", "lark"}


def test_checking_a_spec_loads_no_heavy_library() -> None:
    code = (
        "import sys, gnarl_dsl.loading as loading\n"
        "from gnarl_dsl.specs import shipped_specs\n"
        "results = [loading.check_file(path) for path in shipped_specs()]\n"
        "assert all(result.problem for result in results)\n"
        "print(' '.join(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(run.stdout.split())
