"""Functions from a checked question to a value in, routes that read and write JSON out.

A mistake of the user's is an answer, too: `refused` says what is wrong, and `status` of what kind
it is. (Browsers write every request that fails into their console, which is for mistakes of ours.)
"""

from __future__ import annotations

import json
import math
import sys
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnarl_dsl.report.diagnostics import InternalError
from gnarl_dsl.report.failures import GnarlError

BUG = "a bug in GNARL; what went wrong stands in the terminal of the server"


class Question(BaseModel):
    """What a page asks: nothing but the fields that are declared, each of its type."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Q = TypeVar("Q", bound=Question)


class Refused(GnarlError):
    """A question that cannot be answered, with the status that says why."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


def asking(path: str, kind: type[Q], answer: Callable[[Q], Any]) -> Route:
    """A POST: the body is read as a question, which is answered in a thread of its own."""

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        return await run_in_threadpool(_answered, kind, body, answer)

    return Route(path, endpoint, methods=["POST"])


def telling(path: str, answer: Callable[[], Any]) -> Route:
    """A GET without a question."""

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_safely, answer)

    return Route(path, endpoint, methods=["GET"])


def _answered(kind: type[Q], body: bytes, answer: Callable[[Q], Any]) -> Response:
    try:
        question = kind.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return json_reply({"error": f"not understood: {where or 'the text'}: {first['msg']}"}, 422)
    return _safely(lambda: answer(question))


def _safely(answer: Callable[[], Any]) -> Response:
    try:
        return json_reply(answer())
    except Refused as error:
        return json_reply({"refused": str(error), "status": error.status})
    except (GnarlError, OSError) as error:
        return json_reply({"refused": str(error) or type(error).__name__, "status": 400})
    except InternalError as error:
        print(error, file=sys.stderr, flush=True)
        return json_reply({"error": str(error)}, 500)
    except Exception:
        traceback.print_exc()
        return json_reply({"error": BUG}, 500)


def json_reply(value: Any, status: int = 200) -> Response:
    text = json.dumps(finite(value), ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), status, media_type="application/json")


def finite(value: Any) -> Any:
    """The same with texts for numbers that JSON does not have."""
    match value:
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            return {key: finite(item) for key, item in value.items()}
        case list() | tuple():
            return [finite(item) for item in value]
    return value
