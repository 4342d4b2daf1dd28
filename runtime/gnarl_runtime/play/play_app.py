"""A folder in, the application of the live page out: its files, and what each panel asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnarl_dsl import __version__
from gnarl_dsl.editing.textmate import build_grammar
from gnarl_dsl.specs import gallery_specs, paper_specs
from gnarl_runtime.play.editing_answers import At, Editing, SpecText, Within
from gnarl_runtime.play.spec_folder import Folder, SpecFile, shipped
from gnarl_runtime.web.replies import Question, asking, telling

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_SHARED = ("drawing.js", "drawing.css")  # with the page of gnarl-view


@dataclass(frozen=True)
class Wish:
    """What the command line asks for."""

    folder: Folder
    opened: SpecFile | None
    seed: int = 0


class Named(Question):
    path: str


class Saved(Question):
    path: str
    text: str
    known: str | None


def play_app(wish: Wish) -> Starlette:
    """The application; the server in front of it has looked at where requests come from."""
    editing = Editing(wish.folder)
    return Starlette(routes=[*_about_files(wish, editing), *_about_texts(editing), *_pages()])


def _about_files(wish: Wish, editing: Editing) -> list[Route]:
    folder = wish.folder

    def hello() -> dict[str, Any]:
        """What the page begins with."""
        return {
            "version": __version__,
            "folder": folder.root.name or str(folder.root),
            "files": folder.files(),
            "shipped": {
                "the paper's problems": [path.stem for path in paper_specs()],
                "gallery": [path.stem for path in gallery_specs()],
            },
            "opened": None if wish.opened is None else vars(wish.opened),
            "seed": wish.seed,
            "grammar": build_grammar()["patterns"],
        }

    def read(asked: Named) -> dict[str, Any]:
        return vars(folder.read(asked.path))

    def save(asked: Saved) -> dict[str, Any]:
        digest = folder.save(asked.path, asked.text, asked.known)
        editing.forget()
        return {"digest": digest, "files": folder.files()}

    return [
        telling("/api/hello", hello),
        asking("/api/read", Named, read),
        asking("/api/shipped", Named, lambda asked: vars(shipped(asked.path))),
        asking("/api/save", Saved, save),
    ]


def _about_texts(editing: Editing) -> list[Route]:
    return [
        asking("/api/check", SpecText, editing.check),
        asking("/api/fixes", Within, editing.fixes),
        asking("/api/hover", At, editing.hover),
        asking("/api/complete", At, editing.complete),
        asking("/api/format", SpecText, editing.format),
    ]


# The files of the page


def _pages() -> list[Route]:
    """Every file by its own route, so that no path is ever put together from a request."""
    names = [item.name for item in files("gnarl_runtime.play").joinpath("page").iterdir()]
    own = {name: ("gnarl_runtime.play", f"page/{name}") for name in sorted(names)}
    shared = {name: ("gnarl_runtime.viewing", name) for name in _SHARED}
    routes = [Route(f"/{name}", _sending(*place)) for name, place in {**own, **shared}.items()]
    return [Route("/", _sending(*own["index.html"])), *routes]


def _sending(package: str, name: str) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        return Response(_content(package, name), media_type=_KINDS[name[name.rindex(".") :]])

    return endpoint


@cache
def _content(package: str, name: str) -> bytes:
    return files(package).joinpath(name).read_bytes()
