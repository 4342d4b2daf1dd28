"""The shipped specs by name, and as checked problems."""

from __future__ import annotations

from functools import cache

import gnarl_dsl as gnarl
from gnarl_dsl.model import Problem
from gnarl_dsl.specs import gallery_specs, paper_specs

# The gallery has tests of its own (test_gallery.py), so that every other test is not run on it too.
SHIPPED = tuple(path.stem for path in paper_specs())
GALLERY = tuple(path.stem for path in gallery_specs())


@cache
def shipped(name: str, **params: str) -> Problem:
    return gnarl.load(name, **params)
