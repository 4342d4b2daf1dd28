"""What the network is to read: `observe` and `messages` lines in, checked windows out."""

from __future__ import annotations

from collections.abc import Sequence

from gnarl_dsl import model
from gnarl_dsl.check.context import Context, forbid_hidden, forbid_oracle, warn_unused
from gnarl_dsl.check.cost import Spent
from gnarl_dsl.check.expressions import Bound, check_binders, check_scalar, check_where
from gnarl_dsl.check.scopes import Scope
from gnarl_dsl.check.types import NO_FACTS, Facts
from gnarl_dsl.language.words import MAX_FIRST
from gnarl_dsl.syntax import ast

Tree = ast.Observe | ast.Messages
_FORMS = {
    ast.Observe: ("observe", "nodes", "observe x in nodes where …"),
    ast.Messages: ("messages", "edges", "messages (x, y) in edges where …"),
}


def check_windows(context: Context, trees: Sequence[ast.Observe]) -> tuple[model.Window, ...]:
    """The nodes that the network reads; several lines unite."""
    found = []
    for tree in trees:
        where, nearest, names = _parts(context, tree)
        if names is not None:
            found.append(
                model.Window.model_construct(
                    span=tree.span, variable=names[0], where=where, nearest=nearest
                )
            )
    return tuple(found)


def check_messages(context: Context, trees: Sequence[ast.Messages]) -> tuple[model.Messages, ...]:
    """The pairs along which messages run; several lines unite."""
    found = []
    for tree in trees:
        where, nearest, names = _parts(context, tree)
        if names is not None:
            found.append(
                model.Messages.model_construct(
                    span=tree.span,
                    sender=names[0],
                    receiver=names[1],
                    where=where,
                    nearest=nearest,
                )
            )
    return tuple(found)


def _parts(
    context: Context, tree: Tree
) -> tuple[model.Expr | None, model.Nearest | None, tuple[str, ...] | None]:
    """Condition, criterion and the names that are bound; no names if they are bound wrongly."""
    word, domain, form = _FORMS[type(tree)]
    found = tree.binder.domain
    if not isinstance(found, ast.NamedDomain) or found.name.text != domain or found.args:
        text = context.text_of(found.span)
        context.found.add(
            "GN521", found.span, word=word, expected=f"`{domain}`", found=text, form=form
        )
        return None, None, None
    bound = check_binders(context, (tree.binder,), Scope())
    condition = check_where(context, tree.where, bound)
    nearest, facts = _nearest(context, tree.nearest, bound)
    facts = facts if condition is None else facts.plus(condition.facts)
    where = f"`{word}`"
    forbid_oracle(context, facts, where, "The network could not read it either.")
    forbid_hidden(context, facts, where)
    if not any(binding.used for binding in bound.fresh.values()):
        warn_unused(context, bound.fresh, "variable")
    if facts.state or word == "observe" or context.names.is_mutable:
        # Messages that inputs decide are found once, at reset.
        terms = facts.times(bound.size, names=bound.fresh).cost
        context.spent.append(Spent("observation", where, tree.span, terms))
    names = tuple(name for binder in bound.binders for name in binder.names)
    return (
        None if condition is None else condition.expr,
        nearest,
        names if bound.sound else None,
    )


def _nearest(
    context: Context, tree: ast.Nearest | None, bound: Bound
) -> tuple[model.Nearest | None, Facts]:
    if tree is None:
        return None, NO_FACTS
    what = f"what stands after `{tree.direction}`"
    key = check_scalar(context, tree.key, bound.scope, what)
    count = tree.count.value
    if count % 1 or not 1 <= count <= MAX_FIRST:
        limit, found = f"{MAX_FIRST:,}", tree.count.text
        context.found.add("GN522", tree.count.span, limit=limit, found=found)
        return None, key.facts
    nearest = model.Nearest.model_construct(
        direction=tree.direction, value=key.expr, count=int(count)
    )
    return nearest, key.facts
