"""`observe` and `messages` mean something at the start of a line only, and variants add to them."""

from __future__ import annotations

import gnarl_dsl as gnarl
from gnarl_dsl.format.house_style import format_text

OWN_NAMES = """gnarl 1
problem soft
  "Words of the language as names."

graph undirected

features
  observe   input  node  scalar  ~ uniform(0, 1)  "weight"
  messages  state  node  mask    = false
  first     state  node  mask    = false

let nearest(minimal) = observe[minimal] + (
    observe[minimal])

phase window(x)
  allow not messages[x]
  update
    messages[x] := true
    first[x]    := true

horizon n rounds
objective total = sum(x in nodes where messages[x] and first[x]: observe[x] + nearest(x))
"""
LINES = """
observe x in nodes where not messages[x] maximising observe[x] first 3
messages (x, y) in edges where first[x] or messages[y]
"""


def test_the_words_stay_names() -> None:
    plain = gnarl.loads(OWN_NAMES)
    assert (plain.windows, plain.messages) == ((), ())
    shown = gnarl.loads(OWN_NAMES + LINES)
    (window,) = shown.windows
    assert window.nearest is not None
    assert (window.nearest.count, window.nearest.sign) == (3, -1)
    assert len(shown.messages) == 1
    assert shown.hash != plain.hash
    assert gnarl.loads((OWN_NAMES + LINES).replace("first 3", "first 4")).hash != shown.hash


def test_a_variant_adds_lines_or_drops_them() -> None:
    head = "gnarl 1\nproblem more extends tsp_local\n"
    base = gnarl.load("tsp_local")
    more = gnarl.loads(f"{head}observe x in nodes where A[here, x] < 0.1\n")
    assert len(more.windows) == len(base.windows) + 1
    assert len(more.messages) == len(base.messages)
    fresh = gnarl.loads(f"{head}drop observe\nobserve x in nodes where not in_tour[x]\n")
    assert len(fresh.windows) == 1
    assert gnarl.loads(f"{head}drop observe\n").windows == ()
    near = gnarl.loads("gnarl 1\nproblem more extends tsp_points_local\ndrop messages\n")
    assert near.messages == ()
    assert near.windows


def test_house_style_keeps_the_space() -> None:
    text = OWN_NAMES + "\nmessages (x,y) in edges  where first[x]\n"
    assert "messages (x, y) in edges where first[x]" in format_text(text)
