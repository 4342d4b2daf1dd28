"""A play in, whether some part of the spec makes no difference at its end: by the interpreter."""

from __future__ import annotations

import numpy as np

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.report.source import Span
from gnarl_runtime.checks.properties.idle import Part, parts_of
from gnarl_runtime.checks.witness.witness_play import Played


def is_idle(game: Interpreter, span: Span | None, played: Played) -> bool:
    """Whether the part that stands there changes nothing, in the last pick or at its end."""
    parts = [part for part in parts_of(game.problem) if part.span == span]
    return bool(parts) and not any(_matters(game, part, played) for part in parts)


def _matters(game: Interpreter, part: Part, played: Played) -> bool:
    other = Interpreter(part.without)
    if part.phase is None:
        return other.correct(played.end) != game.correct(played.end)
    if not played.moves or played.states[-2].phase != part.phase:
        return True
    pick = played.end.last[part.phase]
    return not _same(other.step(played.states[-2], pick).state, played.end)


def _same(a: State, b: State) -> bool:
    pairs = ((a.features[name], b.features[name]) for name in a.features)
    same = all(np.array_equal(np.asarray(x), np.asarray(y)) for x, y in pairs)
    return same and bool((a.adjacency == b.adjacency).all())
