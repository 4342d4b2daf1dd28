"""Experts of an IR program in, kernels that fill their distributions out."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from gnarl_compiler.emit.abi import CHOICES, TURNS, Role, array_name, kept_array
from gnarl_compiler.emit.chain_tables import link_tables
from gnarl_compiler.emit.kernels import Module, can_stop, emit_function, emit_kernel
from gnarl_compiler.emit.upkeep import tally_tables
from gnarl_compiler.emit.values import emit_number, emit_value, hoist, skip
from gnarl_compiler.emit.writer import Function, Writer
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import PICK, Ref

_GRAPH = ("m", "rowptr", "src", "adjacency", "edge_id")


# Rules


def emit_rules(module: Module, code: ir.ExpertCode) -> None:
    def body(writer: Writer) -> None:
        size = f"{writer.use('legal')}.shape[1]"
        writer.line(f"chosen = np.zeros({size}, np.bool_)")
        if any(choice.keys for rule in code.rules for choice in rule):
            writer.line(f"score = np.zeros({size}, np.float64)")
        with writer.block("for b in slots:"):
            writer.line("out[b, :] = 0.0")
            writer.skip_if(f"{writer.use('ended')}[b] != RUNNING")
            writer.line("chosen[:] = False")
            writer.line("count = 0")
            for number, rule in enumerate(code.rules):
                test = "if" if number == 0 else "elif"
                with writer.block(f"{test} {writer.use('phase')}[b] == {number}:"):
                    for position, choice in enumerate(rule):
                        _choice(writer, choice, first=position == 0)
            each = f"for pick in range({writer.use('n')}[b]):"
            with writer.loop(each), writer.block("if chosen[pick]:"):
                writer.line("out[b, pick] = 1.0 / count")
            if module.program.stop is not None:
                with writer.block(f"if count == 0 and {writer.use('legal')}[b, -1]:"):
                    writer.line("out[b, -1] = 1.0")

    doc = f"The distribution of the expert `{code.name}` over nodes."
    emit_kernel(module, Role.EXPERT, code.name, ["slots", "out"], doc, body)


def _choice(writer: Writer, choice: ir.Choice, first: bool) -> None:
    """Mark the nodes of one alternative, unless an earlier one found some."""
    with nullcontext() if first else writer.block("if count == 0:"):
        hoist(writer, [choice.where, *(key for _, key in choice.keys)])
        with writer.loop(f"for pick in range({writer.use('n')}[b]):", PICK):
            writer.skip_if(f"not {writer.use('legal')}[b, pick]")
            skip(writer, choice.where, False)
            writer.line("chosen[pick] = True")
            writer.line("count += 1")
        for sign, key in choice.keys:
            _keep_best(writer, sign, key)


def _keep_best(writer: Writer, sign: int, key: Ref) -> None:
    """Drop the chosen nodes whose key is not the best, within tolerance."""
    each = f"for pick in range({writer.use('n')}[b]):"
    writer.line("best = INF")
    with writer.loop(each, PICK):
        writer.skip_if("not chosen[pick]")
        writer.line(f"score[pick] = {'' if sign > 0 else '-'}{emit_value(writer, key)}")
        writer.line("best = min(best, score[pick])")
    test = "if chosen[pick] and not nearly(score[pick], best):"
    with writer.loop(each), writer.block(test):
        writer.line("chosen[pick] = False")
        writer.line("count -= 1")


# Greed


def emit_greedy(
    module: Module,
    code: ir.ExpertCode,
    updates: list[Function | None],
    fill_legal: Function,
    turn: Function | None,
) -> None:
    name = str(code.greedy)
    ref = next(ref for objective, ref in module.program.objectives if objective == name)
    objective = emit_function(
        module,
        f"value_{code.name}",
        ["b"],
        f"The objective `{name}`.",
        lambda writer: writer.line(f"return {emit_number(writer, ref)}"),
    )
    reaches: list[Function] = []
    for number in reversed(range(len(updates))):
        look = _Look(objective, fill_legal, turn, reaches)
        reaches = [_emit_reach(module, number, look, updates[number], code), *reaches]
    stops = any(map(can_stop, updates))

    def body(writer: Writer) -> None:
        writer.line(f"score = np.zeros({writer.use('legal')}.shape[1], np.float64)")
        writer.line("fault = np.zeros(1, np.int32)")
        with writer.block("for b in slots:"):
            writer.line("out[b, :] = 0.0")
            writer.skip_if(f"{writer.use('ended')}[b] != RUNNING")
            _greedy_scores(writer, reaches, stops)

    doc = f"The distribution of the expert `{code.name}`, greedy on `{name}`."
    emit_kernel(module, Role.EXPERT, code.name, ["slots", "out"], doc, body)


@dataclass(frozen=True)
class _Look:
    """What a greedy expert asks after a pick; `further` are those of the later phases, in order."""

    objective: Function
    fill_legal: Function
    turn: Function | None
    further: list[Function]

    def callees(self, update: Function | None) -> list[Function]:
        following = (self.fill_legal, self.turn, *self.further) if self.further else ()
        return [f for f in (self.objective, update, *following) if f]


def _emit_reach(
    module: Module, number: int, look: _Look, update: Function | None, code: ir.ExpertCode
) -> Function:
    """The best objective at the end of the round after a pick in phase `number`."""

    def body(writer: Writer) -> None:
        needed = {array for callee in look.callees(update) for array in callee.arrays}
        # In the types of a step, so that what both call is compiled once.
        writer.line("b = np.int64(0)")
        if update is not None:
            writer.line("pick = np.int64(pick)")
        for array in sorted(needed & _changing_arrays(module), key=module.position):
            writer.line(f"{writer.use(array)} = {array}.copy()")
        if update is not None:
            writer.line(writer.call(update, "b", "pick", "fault"))
        if can_stop(update):
            writer.line("if fault[0] != 0:")
            writer.line("    return -INF")
        if "last" in needed:
            writer.line(f"{writer.use('last')}[0, {number}] = pick")
        if "picked" in needed:
            writer.line(f"{writer.use('picked')}[0, {number}] = True")
        if not look.further:
            writer.line(f"return {writer.call(look.objective, 'b')}")
        elif look.turn is None:
            _best_of_following(writer, number + 1, look, look.further[0])
        else:
            writer.line(f"number = {writer.call(look.turn, 'b', str(number + 1))}")
            for later, further in enumerate(look.further, number + 1):
                with writer.block(f"if number == {later}:"):
                    _best_of_following(writer, later, look, further)
            writer.line(f"return {writer.call(look.objective, 'b')}")

    doc = f"The best `{code.greedy}` that a pick in phase {number + 1} can lead to."
    return emit_function(module, f"reach_{code.name}_{number}", ["pick", "fault"], doc, body)


def _best_of_following(writer: Writer, phase: int, look: _Look, further: Function) -> None:
    """Try every pick of the phase that comes next in this round."""
    writer.line(f"{writer.use('phase')}[0] = {phase}")
    writer.line(writer.call(look.fill_legal, "b"))
    writer.line("best = -INF")
    with writer.loop(f"for following in range({writer.use('n')}[0]):"):
        writer.skip_if(f"not {writer.use('legal')}[0, following]")
        writer.line(f"best = max(best, {writer.call(further, 'following', 'fault')})")
        with writer.block("if fault[0] != 0:"):
            writer.line("return best")
    writer.line("return best")


def _changing_arrays(module: Module) -> set[str]:
    """What a pick can change."""
    features, program = module.source.features.values(), module.program
    own = {array_name(feature) for feature in features if feature.stage.written}
    graph = set(_GRAPH) if program.mutable else set()
    live = {kept_array(code.number) for code in program.kept if code.follows}
    live |= {array for code in program.tallies for array in tally_tables(program, code)}
    live |= set(link_tables(program))
    return own | graph | live | {"last", "phase", "legal", CHOICES, *TURNS}


def _greedy_scores(writer: Writer, reaches: list[Function], stops: bool) -> None:
    legal, nodes = writer.use("legal"), writer.use("n")
    writer.line("best = -INF")
    with writer.loop(f"for pick in range({nodes}[b]):"):
        writer.skip_if(f"not {legal}[b, pick]")
        for number, reach in enumerate(reaches):
            with writer.block(f"if {writer.use('phase')}[b] == {number}:"):
                writer.line(f"score[pick] = {writer.call_on_slot(reach, 'pick', 'fault')}")
        if stops:
            with writer.block("if fault[0] != 0:"):
                writer.line("stop(fault[0])")
        writer.line("best = max(best, score[pick])")
    writer.line("count = 0")
    test = f"if {legal}[b, pick] and nearly(-score[pick], -best):"
    with writer.loop(f"for pick in range({nodes}[b]):"), writer.block(test):
        writer.line("count += 1")
    with writer.loop(f"for pick in range({nodes}[b]):"), writer.block(test):
        writer.line("out[b, pick] = 1.0 / count")


def emit_stop(module: Module) -> None:
    """What a greedy expert raises if a pick that it tries breaks a rule of the language."""

    def body(writer: Writer) -> None:
        for code, fault in enumerate(module.faults, start=1):
            with writer.block(f"if code == {code}:"):
                writer.line(f"raise SpecFault({fault.told(module.source.problem)!r})")

    emit_function(module, "stop", ["code"], "Report a pick that would stop the episode.", body)
