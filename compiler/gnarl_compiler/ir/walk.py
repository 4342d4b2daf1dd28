"""An IR program and a renumbering in, the renumbered program out; what every pass is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Program, Ref, Unsupported, map_operands

Mover = Callable[[Ref], Ref]


@contextmanager
def shallow() -> Iterator[None]:
    """Formulas are walked recursively; those that are too deep for that are not supported."""
    try:
        yield
    except RecursionError:
        raise Unsupported("definitions nested too deeply") from None


def roots(program: Program) -> Iterator[Ref]:
    """Every operation that a program names."""
    seen: list[Ref] = []

    def note(ref: Ref) -> Ref:
        seen.append(ref)
        return ref

    map_program(program, note)
    yield from seen


def map_program(program: Program, move: Mover) -> Program:
    """The same program with every named operation replaced."""

    def maybe(ref: Ref | None) -> Ref | None:
        return None if ref is None else move(ref)

    return replace(
        program,
        phases=tuple(
            replace(
                p,
                allow=maybe(p.allow),
                update=_statements(p.update, move),
                when=maybe(p.when),
                mask=None if p.mask is None else _mask(p.mask, move),
            )
            for p in program.phases
        ),
        initial=tuple(replace(c, value=move(c.value)) for c in program.initial),
        derived=tuple(replace(c, value=move(c.value)) for c in program.derived),
        horizon=move(program.horizon),
        limit=maybe(program.limit),
        terminate=maybe(program.terminate),
        stop=program.stop and ir.StopCode(maybe(program.stop.when)),
        correct=maybe(program.correct),
        valid=maybe(program.valid),
        objectives=tuple((name, move(ref)) for name, ref in program.objectives),
        metrics=tuple((name, move(ref)) for name, ref in program.metrics),
        reward=program.reward and replace(program.reward, value=move(program.reward.value)),
        experts=tuple(_expert(e, move) for e in program.experts),
        kept=tuple(replace(k, value=move(k.value)) for k in program.kept),
        windows=tuple(replace(v, where=maybe(v.where), key=maybe(v.key)) for v in program.windows),
        messages=tuple(
            replace(v, where=maybe(v.where), key=maybe(v.key)) for v in program.messages
        ),
        tallies=tuple(_tally(code, move) for code in program.tallies),
    )


def _mask(mask: ir.MaskCode, move: Mover) -> ir.MaskCode:
    turns = tuple((feature, move(node)) for feature, node in mask.turns)
    return replace(mask, value=move(mask.value), turns=turns)


def _tally(code: ir.TallyCode, move: Mover) -> ir.TallyCode:
    shares = tuple(replace(share, value=move(share.value)) for share in code.shares)
    return replace(code, value=move(code.value), shares=shares)


def _expert(expert: ir.ExpertCode, move: Mover) -> ir.ExpertCode:
    rules = tuple(
        tuple(
            ir.Choice(
                None if choice.where is None else move(choice.where),
                tuple((sign, move(key)) for sign, key in choice.keys),
            )
            for choice in rule
        )
        for rule in expert.rules
    )
    return replace(expert, rules=rules)


def _statements(body: tuple[ir.Statement, ...], move: Mover) -> tuple[ir.Statement, ...]:
    return tuple(_statement(statement, move) for statement in body)


def _statement(statement: ir.Statement, move: Mover) -> ir.Statement:
    match statement:
        case ir.Store():
            index = tuple(move(ref) for ref in statement.index)
            return replace(statement, index=index, value=move(statement.value))
        case ir.StoreEdge():
            source, target = move(statement.source), move(statement.target)
            return ir.StoreEdge(source, target, move(statement.value), statement.span)
        case ir.Bind():
            return replace(statement, value=move(statement.value))
        case ir.Branch():
            return ir.Branch(
                move(statement.condition),
                _statements(statement.then, move),
                _statements(statement.otherwise, move),
            )
        case ir.Loop():
            where = None if statement.where is None else move(statement.where)
            domains = tuple(map_domain(domain, move) for domain in statement.domains)
            return ir.Loop(domains, where, _statements(statement.body, move))


def map_domain(domain: ir.Domain, move: Mover) -> ir.Domain:
    return domain if domain.node is None else replace(domain, node=move(domain.node))


def reachable(program: Program, refs: Iterable[Ref]) -> set[Ref]:
    """The operations that some values are made of."""
    seen: set[Ref] = set()
    waiting = list(refs)
    while waiting:
        ref = waiting.pop()
        if ref not in seen:
            seen.add(ref)
            waiting += ir.operands(program.ops[ref])
    return seen


def sweep(program: Program) -> Program:
    """Renumber the operations that are still used, in order."""
    used = sorted(reachable(program, roots(program)))
    numbers = {ref: number for number, ref in enumerate(used)}
    move = numbers.__getitem__
    ops = tuple(map_operands(program.ops[ref], move) for ref in used)
    infos = tuple(program.infos[ref] for ref in used)
    known = (it for it in program.lets if {it.value, *it.args} <= numbers.keys())
    lets = tuple(_called(it, move) for it in known)
    return replace(map_program(program, move), ops=ops, infos=infos, lets=lets)


def moved_lets(program: Program, move: Mover) -> tuple[ir.Called, ...]:
    """The lets that values are, where these are afterwards; no value is used for its let alone."""
    found: dict[Ref, ir.Called] = {}
    for it in program.lets:
        found.setdefault(move(it.value), _called(it, move))
    return tuple(found.values())


def _called(it: ir.Called, move: Mover) -> ir.Called:
    return ir.Called(move(it.value), it.let, tuple(map(move, it.args)))
