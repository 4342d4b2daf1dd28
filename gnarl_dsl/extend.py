"""A spec that extends another: two trees in, one merged tree out."""

from __future__ import annotations

from dataclasses import replace

from gnarl_dsl import ast
from gnarl_dsl.declare import clause_word
from gnarl_dsl.diagnostics import Collector
from gnarl_dsl.scope import did_you_mean

_NAMED = (
    ast.Param,
    ast.Let,
    ast.Phase,
    ast.Objective,
    ast.Reward,
    ast.Metric,
    ast.Expert,
    ast.GreedyExpert,
    ast.Instances,
)
_WORDS = {"GreedyExpert": "expert"}


def merge_specs(base: ast.Spec, variant: ast.Spec, found: Collector) -> ast.Spec:
    """Same-named declarations and phase clauses replace, `drop` removes, the rest is added."""
    kept = _without_dropped(base, variant, found)
    own = [block for block in variant.blocks if not isinstance(block, ast.Drop)]
    replaced: set[int] = set()
    merged: list[ast.Block] = []
    for block in kept:
        match_index = next((i for i, new in enumerate(own) if _same(block, new)), None)
        if match_index is None:
            merged.append(block)
        else:
            merged.append(_replacement(block, own[match_index]))
            replaced.add(match_index)
    merged += [block for index, block in enumerate(own) if index not in replaced]
    return ast.Spec(variant.span, _features_first(merged, variant))


def _features_first(blocks: list[ast.Block], variant: ast.Spec) -> tuple[ast.Block, ...]:
    """The variant's header leads, so that messages about the whole point at the file itself."""
    headers = [b for b in variant.blocks if isinstance(b, ast.Version | ast.ProblemHead)]
    rest = [b for b in blocks if not isinstance(b, ast.Version | ast.ProblemHead)]
    return (*headers, *rest)


def _word(block: ast.Block) -> str:
    return _WORDS.get(type(block).__name__, clause_word(block))


def _key(block: ast.Block) -> tuple[str, str]:
    return (_word(block), block.name.text if isinstance(block, _NAMED) else "")


def _same(old: ast.Block, new: ast.Block) -> bool:
    return _key(old) == _key(new)


def _replacement(old: ast.Block, new: ast.Block) -> ast.Block:
    if isinstance(old, ast.Features) and isinstance(new, ast.Features):
        return replace(new, features=_merge_features(old, new))
    if isinstance(old, ast.Phase) and isinstance(new, ast.Phase):
        return _merge_phase(old, new)
    return new


def _merge_features(old: ast.Features, new: ast.Features) -> tuple[ast.Feature, ...]:
    fresh = {feature.name.text: feature for feature in new.features}
    before = [fresh.get(feature.name.text, feature) for feature in old.features]
    known = {feature.name.text for feature in old.features}
    return (*before, *(feature for feature in new.features if feature.name.text not in known))


def _merge_phase(old: ast.Phase, new: ast.Phase) -> ast.Phase:
    """Clauses the variant does not give are the base's; they need the same variable name."""
    own = {type(clause) for clause in new.clauses}
    inherited = tuple(clause for clause in old.clauses if type(clause) not in own)
    return replace(new, clauses=(*inherited, *new.clauses))


def _without_dropped(base: ast.Spec, variant: ast.Spec, found: Collector) -> list[ast.Block]:
    blocks = list(base.blocks)
    for drop in variant.blocks:
        if isinstance(drop, ast.Drop):
            blocks = _drop(blocks, drop, found)
    return blocks


def _drop(blocks: list[ast.Block], drop: ast.Drop, found: Collector) -> list[ast.Block]:
    kind = drop.kind.text
    if kind in ("features", "feature"):
        return _drop_features(blocks, drop, found)
    of_kind = {_key(block)[1] for block in blocks if _word(block) == kind}
    wanted = [name.text for name in drop.names] or [""]
    for name in wanted:
        if name not in of_kind:
            span = next((n.span for n in drop.names if n.text == name), drop.span)
            fix = did_you_mean(name, of_kind)
            found.add("GN118", span, kind=kind, name=name, known=_listing(of_kind), fix=fix)
    return [b for b in blocks if not (_word(b) == kind and _key(b)[1] in wanted)]


def _drop_features(blocks: list[ast.Block], drop: ast.Drop, found: Collector) -> list[ast.Block]:
    gone = {name.text for name in drop.names}
    result: list[ast.Block] = []
    known: set[str] = set()
    for block in blocks:
        if isinstance(block, ast.Features):
            known |= {feature.name.text for feature in block.features}
            kept = tuple(f for f in block.features if f.name.text not in gone)
            block = replace(block, features=kept)
        result.append(block)
    for name in drop.names:
        if name.text not in known:
            fix = did_you_mean(name.text, known)
            found.add(
                "GN118",
                name.span,
                kind="feature",
                name=name.text,
                known=_listing(known),
                fix=fix,
            )
    return result


def _listing(names: set[str]) -> str:
    return ", ".join(sorted(name for name in names if name)) or "nothing"
