"""Served policies in, an application out: graphs are POSTed, solutions come back.

POST /solve/NAME   {"graph": {"nodes": […], "edges": […]}, "search": "picks", "seed": 0}
POST /solve        the same, where one policy is served
GET  /             what is served
GET  /healthz      whether it works
GET  /metrics      counts and times, as Prometheus reads them
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gnarl_dsl import __version__
from gnarl_dsl.report.failures import GnarlError
from gnarl_runtime.api.solve_graphs import Solution
from gnarl_runtime.evaluation.summary import plain
from gnarl_runtime.serving.batches import Full
from gnarl_runtime.serving.served_policy import ServedPolicy
from gnarl_runtime.web.replies import Question, json_reply

_LATEST = 4_096  # requests of which times are told
_QUANTILES = (0.5, 0.9, 0.99)


class SolveAsked(Question):
    graph: Any
    search: str | None = None
    seed: int = 0
    rescale: bool = False


@dataclass
class Seen:
    """What the server has done, for its metrics."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_LATEST))
    began: float = field(default_factory=time.monotonic)


def serve_app(served: Sequence[ServedPolicy], seconds: float) -> Starlette:
    """The application; `seconds` is how long a request may wait for its answer."""
    known, seen = {own.name: own for own in served}, Seen()

    async def solve(request: Request) -> Response:
        began = time.monotonic()
        name = request.path_params.get("name") or (served[0].name if len(served) == 1 else "")
        status, value = await _solved(known, name, await request.body(), seconds)
        seen.statuses[status] += 1
        seen.seconds.append(time.monotonic() - began)
        return json_reply(value, status)

    def about(request: Request) -> Response:
        return json_reply({"version": __version__, "policies": [_about(own) for own in served]})

    def health(request: Request) -> Response:
        dead = [own.name for own in served if not own.batcher.thread.is_alive()]
        told = {"status": "failing" if dead else "ok", "policies": sorted(known)}
        return json_reply(told, 503 if dead else 200)

    def metrics(request: Request) -> Response:
        return PlainTextResponse("\n".join(_metrics(served, seen)) + "\n")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        for own in served:
            own.batcher.end()

    return Starlette(
        lifespan=lifespan,
        routes=[
            Route("/", about),
            Route("/healthz", health),
            Route("/metrics", metrics),
            Route("/solve", solve, methods=["POST"]),
            Route("/solve/{name}", solve, methods=["POST"]),
        ],
    )


async def _solved(
    known: dict[str, ServedPolicy], name: str, body: bytes, seconds: float
) -> tuple[int, dict[str, Any]]:
    """The status of an answer and what it says."""
    own = known.get(name)
    if own is None:
        return 404, {"error": f"no policy {name[:80]!r} is served; there is {', '.join(known)}"}
    try:
        waiting = await run_in_threadpool(_put, own, body)
        solution = await asyncio.wait_for(asyncio.wrap_future(waiting), seconds)
        return 200, await run_in_threadpool(_document, own, solution)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the text"
        return 422, {"error": f"not understood: {where}: {first['msg']}"}
    except Full:
        return 503, {"error": "too many graphs wait already; try again later"}
    except TimeoutError:
        return 504, {"error": f"not solved within {seconds:g} s"}
    except GnarlError as error:
        return 400, {"error": str(error)}
    except Exception:
        traceback.print_exc()
        return 500, {"error": "a bug in GNARL; what went wrong is told by the server"}


def _put(own: ServedPolicy, body: bytes) -> Future[Solution]:
    asked = SolveAsked.model_validate_json(body)
    graph = own.graph(asked.graph, "graph", asked.seed)
    attempts = own.attempts(graph, asked.search, asked.seed, asked.rescale)
    return own.batcher.put(graph, attempts)


def _document(own: ServedPolicy, solution: Solution) -> dict[str, Any]:
    found = {"policy": own.name, "problem": own.trained.problem.name}
    told: dict[str, Any] = plain({**found, **solution.to_dict(), "notes": list(solution.notes)})
    return told


def _about(own: ServedPolicy) -> dict[str, Any]:
    provenance: dict[str, Any] = plain(own.trained.provenance())
    return {"name": own.name, "most_nodes": own.bounds.nodes, **provenance}


def _metrics(served: Sequence[ServedPolicy], seen: Seen) -> list[str]:
    lines = ["# TYPE gnarl_requests_total counter"]
    lines += [
        f'gnarl_requests_total{{status="{status}"}} {count}'
        for status, count in sorted(seen.statuses.items())
    ]
    times = sorted(seen.seconds)
    lines.append("# TYPE gnarl_request_seconds summary")
    for quantile in _QUANTILES if times else ():
        at = times[min(len(times) - 1, int(quantile * len(times)))]
        lines.append(f'gnarl_request_seconds{{quantile="{quantile}"}} {at:.6f}')
    lines.append(f"gnarl_uptime_seconds {time.monotonic() - seen.began:.1f}")
    for own in served:
        label, figures = f'{{policy="{own.name}"}}', own.batcher.figures
        lines += [
            f"gnarl_graphs_total{label} {figures.graphs}",
            f"gnarl_batches_total{label} {figures.batches}",
            f"gnarl_solving_seconds_total{label} {figures.seconds:.6f}",
            f"gnarl_waiting{label} {len(own.batcher.queue)}",
        ]
    return lines
