"""Experts: rules per phase, or greed on an objective, in; checked experts out."""

from __future__ import annotations

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.environment import Declarations, Scope
from gnarl_dsl.check.facts import NO_FACTS, Facts
from gnarl_dsl.check.joins import joined_pairs
from gnarl_dsl.check.phase_scopes import allowed_pairs, phase_scopes
from gnarl_dsl.check.types import MASK
from gnarl_dsl.check.updates import UpdateChecker
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast


class ExpertChecker(UpdateChecker):
    """The last layer of the checker: it knows everything the others do."""

    def __init__(self, names: Declarations) -> None:
        super().__init__(names)
        self.expert_facts: dict[str, Facts] = {}

    def check_expert(self, tree: ast.Expert | ast.GreedyExpert) -> model.Expert | None:
        if isinstance(tree, ast.GreedyExpert):
            return self._greedy(tree)
        return self._rules(tree)

    def _greedy(self, tree: ast.GreedyExpert) -> model.GreedyExpert | None:
        if tree.method.text != "greedy":
            fix = did_you_mean(tree.method.text, ["greedy"])
            self.found.add("GN506", tree.method.span, name=tree.method.text, fix=fix)
            return None
        name = tree.objective.text
        if name not in self.names.objectives:
            if "objective" not in self.names.lost_blocks:
                known = ", ".join(self.names.objectives) or "none"
                fix = did_you_mean(name, self.names.objectives)
                self.found.add("GN504", tree.objective.span, name=name, known=known, fix=fix)
            return None
        objective = self.clause_info("objective", name, tree.objective.span)
        facts = objective.facts if objective else NO_FACTS
        for _ in self.names.phases:
            facts = facts.times(cost.NODES)
        self.expert_facts[tree.name.text] = facts
        return model.GreedyExpert.model_construct(
            span=tree.span, name=tree.name.text, objective=name
        )

    def _rules(self, tree: ast.Expert) -> model.RuleExpert:
        phases = list(self.names.phases.values())
        known = phase_scopes(phases, self.names.is_mutable)
        scopes = {  # only legal nodes are asked about
            phase.name.text: scope.joining(allowed_pairs(phase))
            for phase, scope in zip(phases, known, strict=True)
        }
        rules: dict[str, model.ExpertPhase] = {}
        facts = NO_FACTS
        for part in tree.phases:
            checked = self._rule(part, scopes, rules)
            if checked is not None:
                rules[part.phase.text] = checked[0]
                facts = facts.plus(checked[1])
        mentioned = {part.phase.text for part in tree.phases}
        lost = {"phase", "expert"} & self.names.lost_blocks or mentioned - set(scopes)
        for name in scopes:
            if name not in mentioned and not lost:
                variable = self.names.phases[name].variable.text
                self.found.add(
                    "GN501", tree.name.span, name=tree.name.text, phase=name, variable=variable
                )
        self.expert_facts[tree.name.text] = facts.times(cost.NODES)
        return model.RuleExpert.model_construct(
            span=tree.span,
            name=tree.name.text,
            phases=tuple(rules[name] for name in scopes if name in rules),
            reads_oracle=bool(facts.oracle),
        )

    def _rule(
        self,
        tree: ast.ExpertPhase,
        scopes: dict[str, Scope],
        rules: dict[str, model.ExpertPhase],
    ) -> tuple[model.ExpertPhase, Facts] | None:
        name = tree.phase.text
        if name not in scopes:
            if "phase" not in self.names.lost_blocks:
                fix = did_you_mean(name, scopes)
                phases = ", ".join(f"`{phase}`" for phase in scopes)
                self.found.add("GN502", tree.phase.span, name=name, phases=phases, fix=fix)
            return None
        if name in rules:
            self.found.add("GN124", tree.phase.span, word=f"{name}: …")
        parts = [self._alternative(choice, name, scopes[name]) for choice in tree.choices]
        rule = model.ExpertPhase.model_construct(
            phase=name, alternatives=tuple(part[0] for part in parts)
        )
        return rule, NO_FACTS.plus(*(part[1] for part in parts))

    def _alternative(
        self, tree: ast.Choice, phase: str, scope: Scope
    ) -> tuple[model.Alternative, Facts]:
        variable = self.names.phases[phase].variable
        wanted, name = variable.text, tree.variable.text
        if name != wanted:
            # Between a spec and the one it extends, GN139 has said so.
            if variable.span.file == tree.variable.span.file:
                self.found.add("GN503", tree.variable.span, name=name, phase=phase, wanted=wanted)
            scope = scope.bind(tree.variable.text, scope.bound[wanted])
        facts = NO_FACTS
        where = None
        if tree.where is not None:
            typed = self.check_as(tree.where, scope, MASK, "`where`")
            where, facts = typed.expr, typed.facts
            scope = scope.joining(joined_pairs(tree.where, True))
        keys = []
        for criterion in tree.criteria:
            for key in criterion.keys:
                typed = self.require_scalar(
                    self.check_expr(key, scope),
                    key.span,
                    f"what stands after `{criterion.direction}`",
                )
                facts = facts.plus(typed.facts)
                keys.append(
                    model.SortKey.model_construct(direction=criterion.direction, value=typed.expr)
                )
        alternative = model.Alternative.model_construct(
            span=tree.span, where=where, keys=tuple(keys)
        )
        return alternative, facts
