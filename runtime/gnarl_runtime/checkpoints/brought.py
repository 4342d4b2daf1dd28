"""A problem with code that somebody brought in, what a run says about that code out; and back.

Names, signatures and a hash of the file are kept, never the code: whoever plays a checkpoint
brings it again, and is told if it is not the code that the weights were trained with.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from gnarl_dsl.brought_names import is_brought
from gnarl_dsl.externs import ExternError, brought_as, installed
from gnarl_dsl.model import Brought, Extern, Problem, Trade
from gnarl_runtime.checkpoints.recipe import Recipe

KEY = "externs"  # in the provenance of a run, and of its checkpoints
ACCEPT = "--accept-extern"


def recorded(problem: Problem, recipe: Recipe) -> dict[str, Any]:
    """What belongs into a provenance; nothing where nothing is brought."""
    found = [_entry(declared, _code(problem, declared)) for declared in problem.externs]
    named = ((Trade.PROCESSOR, recipe.policy.processor), (Trade.TRAINER, recipe.trainer))
    for trade, name in named:
        if is_brought(name):
            own = brought_as(trade, name, problem.code)
            about = {"name": name, "signature": trade.value}
            found.append({**about, "file": _file(own), "hash": own.hash})
    return {KEY: found} if found else {}


def _code(problem: Problem, declared: Extern) -> Brought | None:
    own = problem.code.get(declared.trade, declared.name)
    return own or installed(declared.trade, declared.name)


def _entry(declared: Extern, brought: Brought | None) -> dict[str, str]:
    origin = {} if brought is None else {"file": _file(brought), "hash": brought.hash}
    return {"name": declared.name, "signature": declared.form, **origin}


def _file(brought: Brought) -> str:
    """What to look for; where it lay on the machine of the training is left out."""
    return brought.package or PurePath(brought.file).name


def verify_recorded(
    problem: Problem, provenance: Mapping[str, Any], where: str, accept: bool = False
) -> None:
    """An ExternError unless the code is there, and is the code of the training."""
    known = {entry["name"]: entry for entry in _entries(provenance)}
    for declared in problem.externs:
        entry, brought = known.get(declared.name, {}), _code(problem, declared)
        if brought is None:
            file = entry.get("file", "")
            with_file = f"; it was trained with {file} (hash {entry['hash']})" if file else ""
            raise ExternError(
                f"{where} needs the {declared.trade.value} `{declared.name}`, and nobody brought "
                f"it{with_file}\n  {declared.form}\n"
                f"Give its code with --extern {file or 'FILE.py'}, if you trust it."
            )
        _verify_hash(brought, entry, where, accept)
    for entry in known.values():
        if entry.get("signature") == Trade.PROCESSOR.value:  # the weights are those of this code
            own = brought_as(Trade.PROCESSOR, entry["name"], problem.code)
            _verify_hash(own, entry, where, accept)


def _verify_hash(brought: Brought, entry: Mapping[str, str], where: str, accept: bool) -> None:
    before = entry.get("hash", "")
    if before and brought.hash != before and not accept:
        raise ExternError(
            f"{where}: {brought.origin} is not the file that `{brought.name}` had in training: "
            f"its hash is {brought.hash or 'not known'}, expected {before} of "
            f"{entry.get('file', 'another file')}\nGive that file, or say {ACCEPT} to go on with "
            "this one (in Python accept_extern=True)."
        )


def _entries(provenance: Mapping[str, Any]) -> list[dict[str, str]]:
    """What a file says; it may be a stranger's, so anything may stand there."""
    found = provenance.get(KEY, [])
    entries = found if isinstance(found, list) else []
    return [
        {str(key): _plain(value) for key, value in entry.items()}
        for entry in entries
        if isinstance(entry, dict) and "name" in entry
    ]


def _plain(value: object) -> str:
    """A text that can be shown, whoever wrote it."""
    return "".join(sign for sign in str(value) if sign.isprintable())[:200]
