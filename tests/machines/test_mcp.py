"""`gnarl-mcp`, asked over standard input and output by the official client."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client, StdioServerParameters, stdio_client  # noqa: E402

from gnarl_dsl.loading import check_text  # noqa: E402
from gnarl_dsl.specs import shipped_specs  # noqa: E402
from gnarl_runtime.machines.reading_matter import sections  # noqa: E402

ROOT = Path(__file__).parents[2]
SPEC = (ROOT / "specs" / "mvc.gnarl").read_text("utf-8")
WRONG = SPEC.replace("allow not in_cover[v]", "allow not in_covr[v]")
# It ends where no edge is covered.
BROKEN = SPEC.replace("terminate when forall", "terminate when not forall")


def talk(work: Callable[[Any], Coroutine[Any, Any, Any]], *flags: str) -> Any:
    """A session of its own: start the server, ask, end it."""
    module = ["-m", "gnarl_runtime.machines.mcp_command", *flags]
    server = StdioServerParameters(command=sys.executable, args=module)

    async def session() -> Any:
        async with Client(stdio_client(server)) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(session(), 120))


def answer(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


def test_a_session_of_somebody_who_writes_a_spec() -> None:
    async def work(client: Any) -> None:
        listed = await client.list_tools()
        names = {tool.name for tool in listed.tools}
        assert names == {"compile", "format", "check", "trace", "explain_code", "builtins"}
        assert all(tool.description for tool in listed.tools)

        wrong = answer(await client.call_tool("compile", {"spec": WRONG}))
        assert not wrong["ok"]
        assert [found["code"] for found in wrong["diagnostics"]] == ["GN201"]
        assert [fix["spec"] for fix in wrong["fixes"]] == [SPEC]
        told = answer(await client.call_tool("explain_code", {"code": "GN201"}))
        assert "GN201 (error)" in told["result"]

        right = answer(await client.call_tool("compile", {"spec": SPEC, "params": {"eps": "0.2"}}))
        assert right["ok"]
        assert right["diagnostics"] == []
        assert "in_cover" in right["summary"]
        assert right["hash"] == check_text(SPEC, params={"eps": "0.2"}).problem.hash

        broken = answer(await client.call_tool("check", {"spec": BROKEN}))
        assert not broken["ok"]
        assert "invalid-end" in broken["text"]
        (first, *_) = broken["report"]["specs"][0]["failures"]
        assert first["property"]

        played = answer(await client.call_tool("trace", {"spec": SPEC, "nodes": 5, "why": True}))
        assert played["nodes"] == 5
        assert played["steps"][0]["legal"] == [0, 1, 2, 3, 4]
        neat = answer(await client.call_tool("format", {"spec": SPEC.replace(" = 0.1", "=0.1")}))
        assert neat["spec"] == SPEC

    talk(work)


def test_what_can_be_read() -> None:
    async def read(client: Any, uri: str) -> str:
        (content,) = (await client.read_resource(uri)).contents
        return str(content.text)

    async def work(client: Any) -> None:
        assert "# The language on one page" in await read(client, "gnarl://card")
        assert await read(client, "gnarl://manual/features") == sections()["features"]
        assert await read(client, "gnarl://specs/mvc") == SPEC
        names = (await read(client, "gnarl://specs")).split()
        assert names == [path.stem for path in shipped_specs()]
        for missing in ("gnarl://specs/nothing", "gnarl://specs/..%2Fmvc", "gnarl://manual/x"):
            with pytest.raises(Exception, match=r"there is no|[Uu]nknown"):
                await read(client, missing)
        for kind in ("words", "formulas", "algorithms", "sources", "graphs", "features"):
            assert len(answer(await client.call_tool("builtins", {"kind": kind}))) >= 5

    talk(work)


def test_mistakes_and_limits_are_told() -> None:
    """Nothing that is asked ends the session."""

    async def work(client: Any) -> None:
        for name, arguments, told in (
            ("compile", {"spec": "x" * 200_000}, "characters"),
            ("explain_code", {"code": "GN9999"}, "there is no code"),
            ("trace", {"spec": SPEC, "nodes": 10_000}, "64"),
            ("trace", {"spec": SPEC, "expert": "nobody"}, "has the experts: optimal"),
            ("format", {"spec": "gnarl 1\nproblem ("}, "GN"),
            ("check", {}, "spec"),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error, name
            assert told in result.content[0].text, (name, result.content[0].text)
        outside = SPEC.replace("problem mvc", "problem a extends passwd")
        found = answer(await client.call_tool("compile", {"spec": outside}))
        assert "GN116" in {own["code"] for own in found["diagnostics"]}
        assert answer(await client.call_tool("compile", {"spec": SPEC}))["ok"]

    talk(work)


def test_what_takes_too_long_is_ended() -> None:
    async def work(client: Any) -> None:
        result = await client.call_tool("check", {"spec": SPEC, "thorough": True})
        assert result.is_error
        assert "not done after 0.2 s" in result.content[0].text
        assert answer(await client.call_tool("builtins", {"kind": "words"}))

    talk(work, "--seconds", "0.2")


def test_without_the_package_the_command_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "from gnarl_runtime.machines.mcp_command import main; sys.exit(main([]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 2
    assert "gnarl-dsl[mcp]" in run.stderr
    assert "Traceback" not in run.stderr


def test_answers_are_json() -> None:
    """What a worker writes can be read by anybody."""
    given = json.dumps({"spec": SPEC, "params": {}})
    module = [sys.executable, "-m", "gnarl_runtime.machines.tool_work", "compile"]
    run = subprocess.run(module, input=given, capture_output=True, text=True)
    assert json.loads(run.stdout)["ok"] is True
