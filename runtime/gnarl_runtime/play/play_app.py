"""A folder in, the application of the live page out: its files, and what each panel asks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnarl_dsl import __version__
from gnarl_dsl.editing.textmate import build_grammar
from gnarl_dsl.model import Code
from gnarl_dsl.specs import gallery_specs, paper_specs
from gnarl_runtime.play.editing_answers import At, Editing, SpecText, Within
from gnarl_runtime.play.player_names import Players
from gnarl_runtime.play.playing_answers import (
    Asked,
    AtNode,
    Begun,
    GameKey,
    Look,
    Picks,
    Playing,
)
from gnarl_runtime.play.run_list import Runs
from gnarl_runtime.play.spec_folder import Folder, SpecFile, shipped
from gnarl_runtime.play.task_answers import (
    CheckAsked,
    JobAsked,
    Nothing,
    RunAsked,
    SolveAsked,
    Tasks,
    TrainAsked,
)
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
    code: Code | None = None  # of files that the command line names
    extern: tuple[str, ...] = ()  # those files


class Named(Question):
    path: str


class Saved(Question):
    path: str
    text: str
    known: str | None


def play_app(wish: Wish) -> Starlette:
    """The application; the server in front of it has looked at where requests come from."""
    editing = Editing(wish.folder, wish.code)
    runs = Runs(wish.folder.root)
    playing = Playing(editing, Players(runs))
    tasks = Tasks(editing, runs, wish.extern)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(tasks.jobs.end)

    return Starlette(
        lifespan=lifespan,
        routes=[
            *_about_files(wish, editing),
            *_about_texts(editing),
            *_about_games(playing),
            *_about_tasks(tasks),
            *_pages(),
        ],
    )


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


def _about_games(playing: Playing) -> list[Route]:
    return [
        asking("/api/begin", Begun, playing.begin),
        asking("/api/look", Look, playing.look),
        asking("/api/why", AtNode, playing.why),
        asking("/api/would", AtNode, playing.would),
        asking("/api/chances", Asked, playing.chances),
        asking("/api/move", Asked, playing.move),
        asking("/api/ending", Picks, playing.ending),
        asking("/api/known", GameKey, playing.known),
        asking("/api/case", GameKey, playing.case),
    ]


def _about_tasks(tasks: Tasks) -> list[Route]:
    return [
        asking("/api/start/check", CheckAsked, tasks.check),
        asking("/api/start/train", TrainAsked, tasks.train),
        asking("/api/start/resume", RunAsked, tasks.resume),
        asking("/api/start/solve", SolveAsked, tasks.solve),
        asking("/api/stop", JobAsked, tasks.stop),
        asking("/api/jobs", Nothing, tasks.listed),
        asking("/api/job", JobAsked, tasks.job),
        asking("/api/runs", Nothing, tasks.all_runs),
        asking("/api/run", RunAsked, tasks.run),
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


def _content(package: str, name: str) -> bytes:
    return files(package).joinpath(name).read_bytes()
