"""Experts: rules per phase, or a way to make one of others, in; checked experts out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard, assert_never

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.context import Context
from gnarl_dsl.check.cost import Terms
from gnarl_dsl.check.expressions import check_as, check_scalar, clause_info
from gnarl_dsl.check.scopes import Scope, allowed_pairs, phase_scopes
from gnarl_dsl.check.types import MASK, NO_FACTS, Facts
from gnarl_dsl.language.words import EXPERT_WAYS, MAX_WORK, SEARCH_WORK, WORK, Way
from gnarl_dsl.report.diagnostics import Note
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

Tree = ast.Expert | ast.MadeExpert
_ONE_PICK = ("update", "mask")  # parts of what the environment spends on a pick


def check_experts(context: Context, trees: Sequence[Tree]) -> Iterator[model.Expert]:
    """All experts of a spec, in its order; those that are made of others know all of these."""
    known: dict[str, Tree] = {}
    for tree in trees:
        known.setdefault(tree.name.text, tree)
    for tree in trees:
        checked: model.Expert | None
        if isinstance(tree, ast.MadeExpert):
            checked = _made(context, tree, known)
        else:
            checked = _rules(context, tree)
        if checked is not None:
            yield checked
    for tree in filter(_is_made, trees):
        if tree.name.text in context.experts and tree.members:  # as costly as the costliest
            parts = [context.experts.get(name.text, cost.CONSTANT) for name in tree.members]
            context.experts[tree.name.text] = cost.add(*parts)


def _is_made(tree: Tree) -> TypeGuard[ast.MadeExpert]:
    return isinstance(tree, ast.MadeExpert)


def _made(context: Context, tree: ast.MadeExpert, known: Mapping[str, Tree]) -> model.Expert | None:
    way = EXPERT_WAYS.get(tree.method.text)
    if way is None:
        fix = did_you_mean(tree.method.text, EXPERT_WAYS)
        context.found.add("GN506", tree.method.span, name=tree.method.text, fix=fix)
        return None
    match way:
        case Way.GREEDY:
            return _greedy(context, tree, known)
        case Way.SEARCH:
            return _search(context, tree, known)
        case Way.BEST:
            return _best(context, tree, known)
        case _:
            assert_never(way)


# Made from an objective


def _greedy(
    context: Context, tree: ast.MadeExpert, known: Mapping[str, Tree]
) -> model.GreedyExpert | None:
    _nothing_else(context, tree, tree.members or tree.budget, "nothing more")
    clause = _objective(context, tree, known)
    if clause is None:
        return None
    objective = clause_info(context, clause, tree.subject.span)
    name = tree.name.text
    context.experts[name] = _tried(context, objective.facts.cost if objective else cost.CONSTANT)
    return model.GreedyExpert.model_construct(
        span=tree.span, name=name, objective=tree.subject.text
    )


def _tried(context: Context, worth: Terms) -> Terms:
    """What it costs to try every pick, and after it those of the phases that follow.

    Each is made in a copy of what updates write, and judged where the round is over.
    """
    names = context.names
    of_part = {part: [s.terms for s in context.spent if s.part == part] for part in _ONE_PICK}
    copies = [cost.cells(names.features[name].place) for name in names.written - {"edge"}]
    for position in reversed(range(len(names.phases))):
        worth = cost.multiply(cost.add(worth, *of_part["update"], *copies), cost.NODES)
        if position > 0:
            worth = cost.add(worth, *of_part["mask"])
    return worth


def _search(
    context: Context, tree: ast.MadeExpert, known: Mapping[str, Tree]
) -> model.SearchExpert | None:
    _nothing_else(context, tree, tree.members, f"`{WORK} N` or nothing")
    work = _work(context, tree.budget)
    goal: str | None = tree.subject.text
    if goal == "correct":
        goal = None
        if context.names.correct is None:
            if "correct" not in context.names.lost_blocks:
                context.found.add("GN510", tree.subject.span)
            return None
    elif _objective(context, tree, known) is None:
        return None
    name = tree.name.text
    context.experts[name] = cost.CONSTANT  # it is found before the first step
    return model.SearchExpert.model_construct(span=tree.span, name=name, objective=goal, work=work)


def _work(context: Context, budget: ast.Budget | None) -> int:
    if budget is None:
        return SEARCH_WORK
    amount = budget.amount.value
    if budget.unit.text != WORK or amount % 1 or not 1 <= amount <= MAX_WORK:
        expected = f"`{WORK} N` with a whole number from 1 to {MAX_WORK:,}"
        found = f"`{context.text_of(budget.span)}`"
        fix = did_you_mean(budget.unit.text, [WORK]) if budget.unit.text != WORK else None
        context.found.add(
            "GN511", budget.span, way="search", expected=expected, found=found, fix=fix
        )
        return SEARCH_WORK
    return int(amount)


def _objective(
    context: Context, tree: ast.MadeExpert, known: Mapping[str, Tree]
) -> ast.Objective | None:
    """The objective that an expert is made from, or a report that there is none."""
    name, names = tree.subject.text, context.names
    if name not in names.objectives and "objective" not in names.lost_blocks:
        listed = ", ".join(names.objectives) or "none"
        fix = did_you_mean(name, names.objectives)
        if fix is None and name in known:
            fix = f"`{name}` is an expert; `{tree.method.text}` is made from an objective."
        elif fix is None and name == "correct":
            fix = "Only `search` can look for a correct end; name an objective."
        context.found.add("GN504", tree.subject.span, name=name, known=listed, fix=fix)
    return names.objectives.get(name)


def _nothing_else(
    context: Context,
    tree: ast.MadeExpert,
    rest: tuple[ast.Ident, ...] | ast.Budget | None,
    expected: str,
) -> None:
    """Report what follows a way to make an expert that takes less."""
    if rest:
        span = rest[0].span.to(rest[-1].span) if isinstance(rest, tuple) else rest.span
        found = f"`{context.text_of(span)}`"
        way = f"{tree.method.text} {tree.subject.text}"
        context.found.add("GN511", span, way=way, expected=expected, found=found)


# Made of other experts


def _best(
    context: Context, tree: ast.MadeExpert, known: Mapping[str, Tree]
) -> model.BestExpert | None:
    if tree.subject.text != "of":
        found, expected = f"`{tree.subject.text}`", "`of` and the names of experts"
        context.found.add("GN511", tree.subject.span, way="best", expected=expected, found=found)
        return None
    _nothing_else(context, tree, tree.budget, "names of experts")
    names = list(dict.fromkeys(name.text for name in tree.members))
    if len(tree.members) != len(names):
        first = next(m for k, m in enumerate(tree.members) if m.text not in names[k : k + 1])
        found, expected = f"`{first.text}` again", "different experts"
        context.found.add("GN511", first.span, way="best of", expected=expected, found=found)
    elif len(names) < 2 and tree.budget is None:
        only = f"one, `{names[0]}`" if names else "none"
        span = tree.members[0].span if names else tree.subject.span
        context.found.add("GN508", span, found=only)
    for member in tree.members:
        _verify_member(context, tree, member, known)
    name = tree.name.text
    context.experts[name] = cost.CONSTANT
    return model.BestExpert.model_construct(span=tree.span, name=name, members=tuple(names))


def _verify_member(
    context: Context, tree: ast.MadeExpert, member: ast.Ident, known: Mapping[str, Tree]
) -> None:
    other = known.get(member.text)
    if other is None:
        if "expert" not in context.names.lost_blocks:
            own = [name for name in known if name != tree.name.text]
            listed = ", ".join(own) or "none"
            fix = did_you_mean(member.text, own)
            context.found.add("GN507", member.span, name=member.text, known=listed, fix=fix)
        return
    if not _is_made(other) or EXPERT_WAYS.get(other.method.text) not in (Way.SEARCH, Way.BEST):
        return
    notes, fix = [Note(other.span, "it is made here")], None
    if other is tree:
        notes, fix = [], "Leave it out."
    elif other.members and all(name.text != tree.name.text for name in other.members):
        fix = f"Name its members instead: {', '.join(name.text for name in other.members)}."
    context.found.add("GN509", member.span, name=member.text, notes=notes, fix=fix)


# Rules


def _rules(context: Context, tree: ast.Expert) -> model.RuleExpert:
    phases = list(context.names.phases.values())
    known = phase_scopes(phases, context.names.is_mutable, context.names.promises)
    scopes = {  # only legal nodes are asked about
        phase.name.text: scope.joining(allowed_pairs(phase, context.names.promises))
        for phase, scope in zip(phases, known, strict=True)
    }
    rules: dict[str, model.ExpertPhase] = {}
    facts = NO_FACTS
    for part in tree.phases:
        checked = _rule(context, part, scopes, rules)
        if checked is not None:
            rules[part.phase.text] = checked[0]
            facts = facts.plus(checked[1])
    mentioned = {part.phase.text for part in tree.phases}
    lost = {"phase", "expert"} & context.names.lost_blocks or mentioned - set(scopes)
    for name in scopes:
        if name not in mentioned and not lost:
            variable = context.names.phases[name].variable.text
            context.found.add(
                "GN501", tree.name.span, name=tree.name.text, phase=name, variable=variable
            )
    names = [phase.variable.text for phase in phases]
    context.experts[tree.name.text] = facts.times(cost.NODES, names=names).cost
    return model.RuleExpert.model_construct(
        span=tree.span,
        name=tree.name.text,
        phases=tuple(rules[name] for name in scopes if name in rules),
        reads_oracle=bool(facts.oracle),
    )


def _rule(
    context: Context,
    tree: ast.ExpertPhase,
    scopes: dict[str, Scope],
    rules: dict[str, model.ExpertPhase],
) -> tuple[model.ExpertPhase, Facts] | None:
    name = tree.phase.text
    if name not in scopes:
        if "phase" not in context.names.lost_blocks:
            fix = did_you_mean(name, scopes)
            phases = ", ".join(f"`{phase}`" for phase in scopes)
            context.found.add("GN502", tree.phase.span, name=name, phases=phases, fix=fix)
        return None
    if name in rules:
        context.found.add("GN124", tree.phase.span, word=f"{name}: …")
    parts = [_alternative(context, choice, name, scopes[name]) for choice in tree.choices]
    rule = model.ExpertPhase.model_construct(
        phase=name, alternatives=tuple(part[0] for part in parts)
    )
    return rule, NO_FACTS.plus(*(part[1] for part in parts))


def _alternative(
    context: Context, tree: ast.Choice, phase: str, scope: Scope
) -> tuple[model.Alternative, Facts]:
    variable = context.names.phases[phase].variable
    wanted, name = variable.text, tree.variable.text
    if name != wanted:
        # Between a spec and the one it extends, GN139 has said so.
        if variable.span.file == tree.variable.span.file:
            context.found.add("GN503", tree.variable.span, name=name, phase=phase, wanted=wanted)
        scope = scope.bind(tree.variable.text, scope.bound[wanted])
    facts = NO_FACTS
    where = None
    if tree.where is not None:
        typed = check_as(context, tree.where, scope, MASK, "`where`")
        where, facts = typed.expr, typed.facts
        scope = scope.joining(context.names.promises.joined(tree.where, True))
    keys = []
    for criterion in tree.criteria:
        for key in criterion.keys:
            direction = criterion.direction
            typed = check_scalar(context, key, scope, f"what stands after `{direction}`")
            facts = facts.plus(typed.facts)
            keys.append(model.SortKey.model_construct(direction=direction, value=typed.expr))
    alternative = model.Alternative.model_construct(span=tree.span, where=where, keys=tuple(keys))
    return alternative, facts
