"""Limits in, a server of the Model Context Protocol out: tools about specs, and what to read.

What a tool is for stands in its description, which is all that a program sees before it calls one.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from pydantic import Field

from gnarl_dsl import __version__
from gnarl_dsl.editing import vocabulary
from gnarl_dsl.language.registered import FUNCTIONS, GENERATORS, SOURCES
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.report.wording import explain, load_wordings
from gnarl_runtime.machines.reading_matter import CARD, MANUAL, page, sections, specs
from gnarl_runtime.machines.within_limits import Limits, Workers

MOST_NODES = 64  # of a graph that is traced
INSTRUCTIONS = """\
GNARL is a language for graph decision problems: a .gnarl spec says what a graph brings, which node
may be picked next, what a pick changes, when an episode ends and what is good. Read gnarl://card
first (one page), then a shipped spec that is near your problem (gnarl://specs/NAME). Write a spec,
call `compile` until it has no errors (its `fixes` are whole specs that have been tried), then
`check`, which shows the smallest counterexample of what is wrong, and `trace` to see an episode.
"""
Spec = Annotated[str, Field(description="the whole text of a .gnarl spec, from `gnarl 1` on")]
Params = Annotated[dict[str, str], Field(description="values for params of the spec, by name")]
Seed = Annotated[int, Field(ge=0, lt=2**32, description="of everything that is drawn")]
Kind = Literal["words", "formulas", "algorithms", "sources", "graphs", "features"]


def make_server(limits: Limits) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("gnarl", instructions=INSTRUCTIONS, version=__version__)
    _add_tools(server, Workers(limits))
    _add_resources(server)
    return server


def _add_tools(server: MCPServer[Any], workers: Workers) -> None:
    @server.tool(name="compile")
    async def compile_(spec: Spec, params: Params | None = None) -> dict[str, Any]:
        """Check a spec and describe the problem it says.

        All mistakes are found at once: `diagnostics` with code, place (line and character from 0)
        and a likely fix, `text` as a person reads them, `fixes` as whole specs. Without errors `ok`
        is true and `summary` has the table of features, phases, ending, cost and hash.
        """
        return await workers.ask("compile", spec=spec, params=params or {})

    @server.tool(name="format")
    async def format_(spec: Spec) -> dict[str, Any]:
        """The same spec in house style; only for a spec without syntax errors."""
        return await workers.ask("format", spec=spec)

    @server.tool()
    async def check(
        spec: Spec,
        params: Params | None = None,
        thorough: Annotated[
            bool, Field(description="also graphs of 4 nodes and random ones; takes far longer")
        ] = False,
        seed: Seed = 0,
    ) -> dict[str, Any]:
        """Find out whether a spec means what it should: every legal episode on every small graph.

        `text` shows what is broken with its smallest counterexample, step by step, and notes about
        what is legal but probably not meant; `report` has the same as data, with the graph, its
        inputs and the picks of each counterexample.
        """
        return await workers.ask(
            "check", spec=spec, params=params or {}, thorough=thorough, seed=seed
        )

    @server.tool()
    async def trace(
        spec: Spec,
        params: Params | None = None,
        nodes: Annotated[int, Field(ge=1, le=MOST_NODES)] = 6,
        seed: Seed = 0,
        policy: Annotated[
            Literal["expert", "random"] | None, Field(description="who picks")
        ] = None,
        expert: Annotated[str | None, Field(description="which expert of the spec")] = None,
        why: Annotated[
            bool, Field(description="also why each illegal node is illegal, by clause and line")
        ] = False,
    ) -> dict[str, Any]:
        """Play one episode: legal nodes, pick, what changed and what it paid, step by step."""
        return await workers.ask(
            "trace",
            spec=spec,
            params=params or {},
            nodes=nodes,
            seed=seed,
            policy=policy or "",
            expert=expert or "",
            why=why,
        )

    @server.tool()
    def explain_code(
        code: Annotated[str, Field(description="such as GN401")],
    ) -> str:
        """A paragraph and an example about the code of a diagnostic."""
        told = explain(code.strip().upper())
        if told is None:
            fix = did_you_mean(code.strip().upper(), load_wordings()) or ""
            raise ToolError(f"there is no code {code[:20]}. {fix}".strip())
        return told

    @server.tool()
    def builtins(
        kind: Annotated[
            Kind,
            Field(
                description="words of the language, formulas (names and functions), algorithms "
                "that oracles are computed by, sources of inputs, families of graphs, or what a "
                "line of features consists of"
            ),
        ],
    ) -> dict[str, str]:
        """Everything that a spec may use without declaring it, each with a sentence."""
        return builtins_of(kind)


def builtins_of(kind: Kind) -> dict[str, str]:
    match kind:
        case "words":
            return dict(vocabulary.KEYWORDS)
        case "formulas":
            return dict(vocabulary.FORMULA_NAMES.values())
        case "algorithms":
            forms = {name: vocabulary.function_form(name) for name in FUNCTIONS}
            return {form: vocabulary.function_doc(name) for name, form in forms.items()}
        case "sources":
            return {known.called(name): f"{known.doc}." for name, known in SOURCES.items()}
        case "graphs":
            return {
                " | ".join(f"{name}({', '.join(['n', *form])})" for form in known.forms): known.doc
                for name, known in GENERATORS.items()
            }
        case "features":
            return {**vocabulary.STAGES, **vocabulary.PLACES, **vocabulary.TYPES}


def _add_resources(server: MCPServer[Any]) -> None:
    text, markdown = "text/plain", "text/markdown"

    @server.resource("gnarl://card", title="The language on one page", mime_type=markdown)
    def card() -> str:
        return _there(page(CARD), CARD)

    @server.resource("gnarl://manual", title="The manual of the language", mime_type=markdown)
    def manual() -> str:
        return _there(page(MANUAL), MANUAL)

    @server.resource("gnarl://manual/{section}", title="A section of it", mime_type=markdown)
    def section(section: str) -> str:
        return _there(sections().get(section), f"{section}: it has {', '.join(sections())}")

    @server.resource("gnarl://specs", title="The shipped specs, by name", mime_type=text)
    def names() -> str:
        return "\n".join(specs()) + "\n"

    @server.resource("gnarl://specs/{name}", title="A shipped spec", mime_type=text)
    def spec(name: str) -> str:
        path = specs().get(name)
        known = did_you_mean(name, specs()) or "gnarl://specs lists them."
        return _there(path.read_text("utf-8") if path else None, f"{name[:80]}. {known}")


def _there(text: str | None, name: str) -> str:
    if text is None:
        raise ResourceNotFoundError(f"there is no {name}")
    return text
