"""A spec that extends another: two trees in, one merged tree out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from gnarl_dsl.check.declare import clause_word
from gnarl_dsl.report.diagnostics import Collector, Note
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

_NAMED = (
    ast.Param,
    ast.Let,
    ast.Phase,
    ast.Objective,
    ast.Reward,
    ast.Metric,
    ast.Expert,
    ast.MadeExpert,
    ast.Instances,
    ast.Extern,
)
_NAMED_KINDS = [
    "param",
    "feature",
    "let",
    "phase",
    "objective",
    "reward",
    "metric",
    "expert",
    "instances",
    "extern",
]
_CLAUSE_KINDS = ["limit", "terminate", "valid", "correct", "observe", "messages", "stop"]
_UNITING = (ast.Observe, ast.Messages)  # a variant's are added to the base's


def merge_specs(base: ast.Spec, variant: ast.Spec, found: Collector) -> ast.Spec:
    """Same-named declarations and phase clauses replace, `drop` removes, the rest is added."""
    kept = _without_dropped(_joined_features(base.blocks), variant, found)
    own = [b for b in _joined_features(variant.blocks) if not isinstance(b, ast.Drop)]
    replaced: set[int] = set()
    merged: list[ast.Block] = []
    for block in kept:
        match_index = next((i for i, new in enumerate(own) if _replaces(new, block)), None)
        if match_index is None:
            merged.append(block)
        else:
            merged.append(_replacement(block, own[match_index]))
            replaced.add(match_index)
    _report_renamed_picks(kept, own, merged, found)
    merged += [block for index, block in enumerate(own) if index not in replaced]
    return ast.Spec(variant.span, _headers_first(merged, variant))


def _joined_features(blocks: tuple[ast.Block, ...]) -> list[ast.Block]:
    """The blocks with all features in the first `features` block."""
    tables = [block for block in blocks if isinstance(block, ast.Features)]
    if len(tables) < 2:
        return list(blocks)
    features = tuple(feature for table in tables for feature in table.features)
    joined = replace(tables[0], features=features)
    rest = [block for block in blocks if not isinstance(block, ast.Features)]
    return [*rest[: blocks.index(tables[0])], joined, *rest[blocks.index(tables[0]) :]]


def _headers_first(blocks: list[ast.Block], variant: ast.Spec) -> tuple[ast.Block, ...]:
    """The variant's header leads, so that messages about the whole point at the file itself."""
    headers = [b for b in variant.blocks if isinstance(b, ast.Version | ast.ProblemHead)]
    rest = [b for b in blocks if not isinstance(b, ast.Version | ast.ProblemHead)]
    return (*headers, *rest)


def _word(block: ast.Block) -> str:
    if isinstance(block, ast.Stop):
        return "stop"
    return "expert" if isinstance(block, ast.MadeExpert) else clause_word(block)


def _key(block: ast.Block) -> tuple[str, str]:
    return (_word(block), block.name.text if isinstance(block, _NAMED) else "")


def _replaces(new: ast.Block, old: ast.Block) -> bool:
    return not isinstance(new, _UNITING) and _key(new) == _key(old)


def _replacement(old: ast.Block, new: ast.Block) -> ast.Block:
    if isinstance(old, ast.Features) and isinstance(new, ast.Features):
        return replace(new, features=_merge_features(old, new))
    if isinstance(old, ast.Phase) and isinstance(new, ast.Phase):
        return _merge_phase(old, new)
    return new


def _merge_features(old: ast.Features, new: ast.Features) -> tuple[ast.Feature, ...]:
    """Replaced features keep their place; a name declared twice in `new` stays so."""
    known = {feature.name.text for feature in old.features}
    fresh = {f.name.text: f for f in reversed(new.features) if f.name.text in known}
    before = [fresh.get(feature.name.text, feature) for feature in old.features]
    return (*before, *(f for f in new.features if fresh.get(f.name.text) is not f))


def _merge_phase(old: ast.Phase, new: ast.Phase) -> ast.Phase:
    """Clauses the variant does not give are the base's; they need the same variable name.

    When a phase has its turn does not depend on its own pick, so that needs no name.
    """
    same_name = old.variable.text == new.variable.text
    inherited = _inherited_clauses(old, new) if same_name else ()
    when = old.when if new.when is None else new.when
    return replace(new, when=when, clauses=(*inherited, *new.clauses))


def _inherited_clauses(old: ast.Phase, new: ast.Phase) -> tuple[ast.Allow | ast.Update, ...]:
    own = {type(clause) for clause in new.clauses}
    return tuple(clause for clause in old.clauses if type(clause) not in own)


def _report_renamed_picks(
    kept: Sequence[ast.Block],
    own: Sequence[ast.Block],
    merged: Sequence[ast.Block],
    found: Collector,
) -> None:
    """A phase may call its pick something else only if nothing inherited knows the old name."""
    phases = {block.name.text: block for block in own if isinstance(block, ast.Phase)}
    for old in kept:
        new = phases.get(old.name.text) if isinstance(old, ast.Phase) else None
        if not isinstance(old, ast.Phase) or new is None or old.variable.text == new.variable.text:
            continue
        clauses = _inherited_clauses(old, new)
        parts = [f"`{type(clause).__name__.lower()}`" for clause in clauses]
        parts += [f"expert `{e.name.text}`" for e in merged if _has_rule(e, old) and e in kept]
        if parts:
            found.add(
                "GN139",
                new.variable.span,
                phase=new.name.text,
                wanted=old.variable.text,
                found=new.variable.text,
                parts=", ".join(parts),
                notes=[Note(old.variable.span, "the name in the extended spec")],
            )


def _has_rule(block: ast.Block, phase: ast.Phase) -> TypeGuard[ast.Expert]:
    return isinstance(block, ast.Expert) and any(
        rule.phase.text == phase.name.text for rule in block.phases
    )


# drop


def _without_dropped(
    blocks: list[ast.Block], variant: ast.Spec, found: Collector
) -> list[ast.Block]:
    for drop in variant.blocks:
        if isinstance(drop, ast.Drop):
            blocks = _drop(blocks, drop, found)
    return blocks


def _drop(blocks: list[ast.Block], drop: ast.Drop, found: Collector) -> list[ast.Block]:
    kind = "feature" if drop.kind.text == "features" else drop.kind.text
    if kind not in (*_NAMED_KINDS, *_CLAUSE_KINDS):
        kinds = [*_NAMED_KINDS, *_CLAUSE_KINDS]
        fix = did_you_mean(kind, kinds)
        found.add("GN140", drop.kind.span, kind=kind, kinds=", ".join(kinds), fix=fix)
        return blocks
    known = _declared(blocks, kind)
    if kind in _NAMED_KINDS and not drop.names:
        found.add("GN137", drop.span, kind=kind, known=_listing(known))
        return blocks
    _report_unknown(drop, kind, known, found)
    gone = {name.text for name in drop.names} if kind in _NAMED_KINDS else {""}
    if kind == "feature":
        return [_without_features(block, gone) for block in blocks]
    return [b for b in blocks if not (_word(b) == kind and _key(b)[1] in gone)]


def _declared(blocks: list[ast.Block], kind: str) -> set[str]:
    """Names of this kind; a clause without a name counts as the empty one."""
    if kind == "feature":
        tables = [block for block in blocks if isinstance(block, ast.Features)]
        return {feature.name.text for table in tables for feature in table.features}
    return {_key(block)[1] for block in blocks if _word(block) == kind}


def _report_unknown(drop: ast.Drop, kind: str, known: set[str], found: Collector) -> None:
    if kind in _CLAUSE_KINDS:
        if not known or drop.names:
            span = drop.names[0].span if drop.names else drop.kind.span
            fix = f"Write `drop {kind}`; there can be only one." if known else None
            what = f"`{kind} {drop.names[0].text}`" if drop.names else f"`{kind}`"
            found.add("GN118", span, what=what, known="", fix=fix)
        return
    for name in drop.names:
        if name.text not in known:
            fix = did_you_mean(name.text, known)
            what = f"{kind} `{name.text}`"
            listed = f"; it has: {_listing(known)}"
            found.add("GN118", name.span, what=what, known=listed, fix=fix)


def _without_features(block: ast.Block, gone: set[str]) -> ast.Block:
    if not isinstance(block, ast.Features):
        return block
    return replace(block, features=tuple(f for f in block.features if f.name.text not in gone))


def _listing(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "none"
