"""Parsers, wordings and words in, pages of the documentation out: cli.md, errors.md and others.

python -m gnarl_runtime.commands.reference DOCS     writes them into a folder
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from gnarl_compiler.describe.grammar_card import card_page
from gnarl_dsl.report.wording import Wording, load_wordings

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
# The order of a first use; commands that are not listed come last.
ORDER = (
    *("new", "compile", "fmt", "trace", "play", "check", "train", "sweep", "eval", "solve"),
    *("serve", "view", "report", "draw", "export", "doctor", "lsp", "mcp"),
)
CLI_HEAD = """\
# Commands

All commands have `--help` with examples and `--version`. A spec is given as a `.gnarl` file, as the
name of a shipped spec such as `bfs`, or as `-` for standard input. Mistakes on the command line and
in specs are explained without a traceback.

| exit code | meaning, for all commands |
|---|---|
| 0 | done, and nothing is at fault |
| 1 | what was asked about is at fault: a spec with mistakes, a check that fails |
| 2 | mistakes on the command line, or a file that cannot be used |
| 3 | a bug in GNARL; please report it |
| 130 | interrupted |

<!-- Written by `python -m gnarl_runtime.commands.reference docs` from the commands' parsers. -->
"""
ERRORS_HEAD = """\
# Errors and warnings

Every diagnostic has a code that stays the same. `gnarl-compile --explain CODE` prints what stands
here, `gnarl-compile --explain all` lists the codes. GN9xx are warnings. Words in braces are filled
in from the spec. The examples show the right form.

<!-- Written by `python -m gnarl_runtime.commands.reference docs` from wording.toml. -->
"""
LLMS_HEAD = """\
# GNARL

> A declarative language and compiler for graph decision problems: one .gnarl file says what a graph
> brings, which node may be picked next, what a pick changes and what is good; out of it come
> environments, features for a graph neural network, experts, trained policies, searches and checks.

To write a spec, read the language on one page first, then the manual where something is unclear.
`gnarl-compile FILE` finds all mistakes at once, `gnarl-check FILE` shows a smallest counterexample
of what is not meant, `gnarl-trace FILE --why` plays an episode. `gnarl-mcp` serves these as tools.
"""


# Commands


def commands() -> dict[str, str]:
    """Every command with the module that has its parser, from the project file of a checkout."""
    scripts = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["scripts"]
    ranks = {f"gnarl-{name}": rank for rank, name in enumerate(ORDER)}
    names = sorted(scripts, key=lambda name: (ranks.get(name, len(ORDER)), name))
    return {name: _home(scripts[name]) for name in names}


def _home(entry: str) -> str:
    """An entry point names a command; `shell/entry.py` finds its module."""
    module, _, name = entry.partition(":")
    return module if name == "main" else f"gnarl_runtime.{name}"


def cli_page() -> str:
    parsers = (import_module(module).build_parser() for module in commands().values())
    return "\n".join([CLI_HEAD, *("\n".join(_command(parser)) for parser in parsers)])


def _command(parser: argparse.ArgumentParser) -> Iterator[str]:
    """A section about one command: what it does, its arguments, examples, exit codes."""
    yield f"## {parser.prog}\n"
    yield f"{parser.description}\n"
    yield "| argument | meaning |\n|---|---|"
    for action in parser._actions:
        if not isinstance(action, argparse._HelpAction | argparse._VersionAction):
            yield f"| `{_form(action)}` | {action.help} |"
    examples, _, codes = (parser.epilog or "").partition("\n\n")
    body = examples.removeprefix("examples:\n")
    yield (
        "\n```text\n" + "\n".join(line.removeprefix("  ") for line in body.splitlines()) + "\n```\n"
    )
    meanings = [line.split(maxsplit=1) for line in codes.splitlines()[1:3]]
    yield "Exit code " + "; ".join(f"{code}: {meaning}" for code, meaning in meanings) + ".\n"


def _form(action: argparse.Action) -> str:
    """How an argument is written: `-p NAME=VALUE`, `--format {text,json}`, `SPEC...`."""
    choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else ""
    value = str(action.metavar or choices)
    if not action.option_strings:
        return f"{value}..." if action.nargs == "*" else value
    flags = ", ".join(action.option_strings)
    return flags if action.nargs == 0 or not value else f"{flags} {value}"


# Diagnostics


def errors_page() -> str:
    sections = (_wording(code, wording) for code, wording in load_wordings().items())
    return "\n".join([ERRORS_HEAD, *("\n".join(section) for section in sections)])


def _wording(code: str, wording: Wording) -> Iterator[str]:
    kind = "warning" if code.startswith("GN9") else "error"
    yield f"## {code}: {_prose(wording.title)}\n"
    fix = f" *Likely fix:* {_prose(wording.fix)}" if wording.fix else ""
    yield f"*{kind.capitalize()}.* {_prose(wording.says)}{fix}\n"
    yield f"{_prose(wording.explain)}\n"
    language = "text" if wording.example.startswith("gnarl-") else "gnarl"  # a command, or a spec
    yield f"```{language}\n{wording.example}\n```\n"


def _prose(text: str) -> str:
    """Signs that Markdown would read as its own stay what they are, outside of code."""
    parts = text.split("`")
    parts[::2] = [
        p.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_") for p in parts[::2]
    ]
    return "`".join(parts)


# For programs that read documentation


def llms_page() -> str:
    """Every page of the site with its heading, as llmstxt.org has it."""
    lines, section = [LLMS_HEAD], ""
    for title, target in _navigation():
        if target is None:
            section = title
            lines.append(f"\n## {section}\n")
        else:
            lines.append(f"- [{title}]({target}): {_heading(target)}")
    return "\n".join(lines) + "\n"


def _navigation() -> Iterator[tuple[str, str | None]]:
    """Titles and pages of mkdocs.yml in order; a section has no page."""
    text = (PROJECT.parent / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    for line in text.splitlines():
        match = re.match(r"\s*- ([^:]+):(?: (\S+\.md))?\s*$", line)
        there = match and (match[2] is None or (PROJECT.parent / "docs" / match[2]).is_file())
        if match and there:  # a checkout may lack pages
            yield match[1].strip(), match[2]


def _heading(page: str) -> str:
    """What the page calls itself; sentences change more often."""
    text = (PROJECT.parent / "docs" / page).read_text("utf-8")
    return text.partition("# ")[2].partition("\n")[0].replace("`", "")


PAGES = {
    "cli.md": cli_page,
    "errors.md": errors_page,
    "grammar_card.md": card_page,
    "llms.txt": llms_page,
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m gnarl_runtime.commands.reference", description=__doc__
    )
    parser.add_argument("folder", type=Path, metavar="DOCS", help="the folder of the documentation")
    folder: Path = parser.parse_args(argv).folder
    if not folder.is_dir():
        parser.error(f"{folder} is not a folder")
    for name, page in PAGES.items():
        (folder / name).write_text(page(), "utf-8")
        print(f"wrote {folder / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
