"""Experts: rules per phase, or greed on an objective, in; checked experts out."""

from __future__ import annotations

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.context import Context
from gnarl_dsl.check.expressions import check_as, check_scalar, clause_info
from gnarl_dsl.check.scopes import Scope, allowed_pairs, joined_pairs, phase_scopes
from gnarl_dsl.check.types import MASK, NO_FACTS, Facts
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast


def check_expert(context: Context, tree: ast.Expert | ast.GreedyExpert) -> model.Expert | None:
    if isinstance(tree, ast.GreedyExpert):
        return _greedy(context, tree)
    return _rules(context, tree)


def _greedy(context: Context, tree: ast.GreedyExpert) -> model.GreedyExpert | None:
    if tree.method.text != "greedy":
        fix = did_you_mean(tree.method.text, ["greedy"])
        context.found.add("GN506", tree.method.span, name=tree.method.text, fix=fix)
        return None
    name = tree.objective.text
    clause = context.names.objectives.get(name)
    if clause is None:
        if "objective" not in context.names.lost_blocks:
            known = ", ".join(context.names.objectives) or "none"
            fix = did_you_mean(name, context.names.objectives)
            context.found.add("GN504", tree.objective.span, name=name, known=known, fix=fix)
        return None
    objective = clause_info(context, clause, tree.objective.span)
    facts = objective.facts if objective else NO_FACTS
    for _ in context.names.phases:
        facts = facts.times(cost.NODES)
    context.experts[tree.name.text] = facts.terms
    return model.GreedyExpert.model_construct(span=tree.span, name=tree.name.text, objective=name)


def _rules(context: Context, tree: ast.Expert) -> model.RuleExpert:
    phases = list(context.names.phases.values())
    known = phase_scopes(phases, context.names.is_mutable)
    scopes = {  # only legal nodes are asked about
        phase.name.text: scope.joining(allowed_pairs(phase))
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
    context.experts[tree.name.text] = facts.times(cost.NODES).terms
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
        scope = scope.joining(joined_pairs(tree.where, True))
    keys = []
    for criterion in tree.criteria:
        for key in criterion.keys:
            direction = criterion.direction
            typed = check_scalar(context, key, scope, f"what stands after `{direction}`")
            facts = facts.plus(typed.facts)
            keys.append(model.SortKey.model_construct(direction=direction, value=typed.expr))
    alternative = model.Alternative.model_construct(span=tree.span, where=where, keys=tuple(keys))
    return alternative, facts
