"""A problem in, the texts it was checked from out; and back, checked again."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from pydantic import BaseModel, ConfigDict

from gnarl_dsl.loading import check_text, errors_of
from gnarl_dsl.model import Problem
from gnarl_dsl.report.render import render

_SAFE_STEM = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class SpecTextError(ValueError):
    """Texts that are no spec, or no longer one."""


class SpecText(BaseModel):
    """One file of a spec."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    text: str


def texts_of(problem: Problem) -> tuple[SpecText, ...]:
    """The file itself, then what it extends."""
    return tuple(
        SpecText(name=_name_to_share(source.name), text=source.text) for source in problem.sources
    )


def _name_to_share(name: str) -> str:
    """Files with these texts are passed on; where the specs lay on this machine is left out."""
    path = PurePath(name)
    return path.name if path.is_absolute() else name


def params_of(problem: Problem) -> dict[str, str]:
    """The params as `-p` takes them."""
    return {param.name: _param_text(param.value) for param in problem.params}


def _param_text(value: float | str) -> str:
    return value if isinstance(value, str) else repr(value)


def problem_from(texts: Sequence[SpecText], params: Mapping[str, str]) -> Problem:
    """Check the texts again with the same params; nothing of them is ever run.

    Who made the file has played the spec, whatever it costs.
    """
    if not texts:
        raise SpecTextError("expected the text of a spec, found none")
    main, *bases = texts
    with tempfile.TemporaryDirectory() as folder:
        for base in bases:
            _lay_out(Path(folder), base)
        checked = check_text(main.text, main.name, params, Path(folder), allow_costly=True)
    if checked.problem is None:
        first = render(errors_of(checked.diagnostics)[0], checked.sources)
        raise SpecTextError(f"the spec in the file has mistakes\n{first}")
    return _under_their_names(checked.problem, texts)


def _under_their_names(problem: Problem, texts: Sequence[SpecText]) -> Problem:
    """Messages name the files as they were called, not where they lay while they were read."""
    named = tuple(
        source.model_copy(update={"name": given.name})
        for source, given in zip(problem.sources, texts, strict=False)
    )
    return problem.model_copy(update={"sources": named + problem.sources[len(named) :]})


def _lay_out(folder: Path, base: SpecText) -> None:
    """Put what the spec extends where `extends` looks first."""
    stem = PurePath(base.name.replace("\\", "/")).stem
    if not _SAFE_STEM.match(stem):
        raise SpecTextError(f"expected a file called NAME.gnarl, found {base.name!r}")
    (folder / f"{stem}.gnarl").write_text(base.text, "utf-8")
