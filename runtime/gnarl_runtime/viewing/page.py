"""A Page goes in, the text of one HTML file that needs nothing else comes out.

Words of a spec are data: they reach the page as JSON that cannot end its script element, and the
script shows them as text. What may run is named by its hash; everything else, and every request
to a network, the page forbids itself.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import asdict
from importlib.resources import files

from gnarl_dsl import __version__
from gnarl_runtime.viewing.document import Page

_HOLE = re.compile(r"\{\{(\w+)\}\}")
_STYLES = ("drawing.css", "page.css")
_SCRIPTS = ("drawing.js", "page_base.js", "page_tables.js", "page.js")  # one after the other
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def page_text(page: Page) -> str:
    """The whole file."""
    style, script = "\n".join(map(_part, _STYLES)), "\n".join(map(_part, _SCRIPTS))
    holes = {
        "title": html.escape(f"{page.scene.problem}: {page.player}"),
        "version": html.escape(__version__),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "data": json_for_script(asdict(page)),
    }
    # One pass: what is put into a hole is never looked at for holes.
    return _HOLE.sub(lambda match: holes[match[1]], _part("page.html"))


def json_for_script(value: object) -> str:
    """JSON that stays inside a script element, whatever its texts say."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return "".join(_UNSAFE.get(sign, sign) for sign in text)


def _part(name: str) -> str:
    return files("gnarl_runtime.viewing").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
