"""Experts of an IR program in, kernels that fill their distributions out."""

from __future__ import annotations

from contextlib import nullcontext

from gnarl_compiler.emit.kernels import Function, KernelEmitter, can_fault, is_scratch
from gnarl_compiler.emit.updates import UpdateWriter
from gnarl_compiler.emit.values import array_name
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import PICK, Ref

_GRAPH = ("m", "rowptr", "src", "adjacency", "edge_id")


class ExpertEmitter(KernelEmitter):
    """Adds experts to the emitter of environments."""

    # Rules

    def rules(self, code: ir.ExpertCode) -> Function:
        def body(writer: UpdateWriter) -> None:
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

        doc = f"The distribution of the expert `{code.name}` over nodes."
        return self.function(f"expert_{code.name}", ["slots", "out"], doc, body)

    # Greed

    def mutable_arrays(self) -> set[str]:
        """What a pick can change."""
        own = {array_name(f) for f in self.problem.features if f.stage == "state"}
        graph = set(_GRAPH) if self.program.mutable else set()
        live = {f"kept{code.number}" for code in self.program.kept if code.follows}
        return own | graph | live | {"last", "phase", "legal"}

    def reach(
        self,
        number: int,
        objective: Function,
        update: Function | None,
        fill_legal: Function,
        further: Function | None,
        code: ir.ExpertCode,
    ) -> Function:
        """The best objective at the end of the round after a pick in phase `number`."""

        def body(writer: UpdateWriter) -> None:
            following = (fill_legal, further) if further else ()
            callees = [f for f in (objective, update, *following) if f]
            needed = {array for callee in callees for array in callee.arrays}
            for array in sorted(needed & self.mutable_arrays(), key=self.position):
                writer.line(f"{writer.use(array)} = {array}.copy()")
            if update is not None:
                writer.line(update.call(writer, "0", "pick", "fault"))
            if can_fault(update):
                writer.line("if fault[0] != 0:")
                writer.line("    return -INF")
            if "last" in needed:
                writer.line(f"{writer.use('last')}[0, {number}] = pick")
            if further is None:
                writer.line(f"return {objective.call(writer, '0')}")
                return
            writer.line(f"{writer.use('phase')}[0] = {number + 1}")
            writer.line(fill_legal.call(writer, "0"))
            writer.line("best = -INF")
            with writer.loop(f"for following in range({writer.use('n')}[0]):"):
                writer.skip_if(f"not {writer.use('legal')}[0, following]")
                writer.line(f"best = max(best, {further.call(writer, 'following', 'fault')})")
                with writer.block("if fault[0] != 0:"):
                    writer.line("return best")
            writer.line("return best")

        doc = f"The best `{code.greedy}` that a pick in phase {number + 1} can lead to."
        return self.function(f"reach_{code.name}_{number}", ["pick", "fault"], doc, body)

    def greedy(
        self, code: ir.ExpertCode, updates: list[Function | None], fill_legal: Function
    ) -> Function:
        name = str(code.greedy)
        ref = next(ref for objective, ref in self.program.objectives if objective == name)
        objective = self.function(
            f"value_{code.name}",
            ["b"],
            f"The objective `{name}`.",
            lambda writer: writer.line(f"return {writer.number(ref)}"),
        )
        reaches: list[Function] = []
        for number in reversed(range(len(updates))):
            further = reaches[0] if reaches else None
            reach = self.reach(number, objective, updates[number], fill_legal, further, code)
            reaches.insert(0, reach)
        stops = any(map(can_fault, updates))

        def body(writer: UpdateWriter) -> None:
            writer.line(f"score = np.zeros({writer.use('legal')}.shape[1], np.float64)")
            writer.line("fault = np.zeros(1, np.int32)")
            with writer.block("for b in slots:"):
                writer.line("out[b, :] = 0.0")
                writer.skip_if(f"{writer.use('ended')}[b] != RUNNING")
                _greedy_scores(writer, reaches, stops)

        doc = f"The distribution of the expert `{code.name}`, greedy on `{name}`."
        return self.function(f"expert_{code.name}", ["slots", "out"], doc, body)

    def stop(self) -> None:
        """What a greedy expert raises if a pick that it tries breaks a rule of the language."""

        def body(writer: UpdateWriter) -> None:
            for code, (span, what) in enumerate(self.faults, start=1):
                with writer.block(f"if code == {code}:"):
                    text = f"line {self.problem.line_of(span)}: {what}"
                    writer.line(f"raise SpecFault({text!r})")

        self.function("stop", ["code"], "Report a pick that would stop the episode.", body)


def _choice(writer: UpdateWriter, choice: ir.Choice, first: bool) -> None:
    """Mark the nodes of one alternative, unless an earlier one found some."""
    with nullcontext() if first else writer.block("if count == 0:"):
        writer.hoist([choice.where, *(key for _, key in choice.keys)])
        with writer.loop(f"for pick in range({writer.use('n')}[b]):", PICK):
            writer.skip_if(f"not {writer.use('legal')}[b, pick]")
            writer.skip(choice.where, False)
            writer.line("chosen[pick] = True")
            writer.line("count += 1")
        for sign, key in choice.keys:
            _keep_best(writer, sign, key)


def _keep_best(writer: UpdateWriter, sign: int, key: Ref) -> None:
    """Drop the chosen nodes whose key is not the best, within tolerance."""
    each = f"for pick in range({writer.use('n')}[b]):"
    writer.line("best = INF")
    with writer.loop(each, PICK):
        writer.skip_if("not chosen[pick]")
        writer.line(f"score[pick] = {'' if sign > 0 else '-'}{writer.value(key)}")
        writer.line("best = min(best, score[pick])")
    test = "if chosen[pick] and not nearly(score[pick], best):"
    with writer.loop(each), writer.block(test):
        writer.line("chosen[pick] = False")
        writer.line("count -= 1")


def _greedy_scores(writer: UpdateWriter, reaches: list[Function], stops: bool) -> None:
    legal, nodes = writer.use("legal"), writer.use("n")
    writer.line("best = -INF")
    with writer.loop(f"for pick in range({nodes}[b]):"):
        writer.skip_if(f"not {legal}[b, pick]")
        for number, reach in enumerate(reaches):
            rows = ["" if is_scratch(array) else "[b : b + 1]" for array in reach.arrays]
            slices = ", ".join(map("".join, zip(map(writer.use, reach.arrays), rows, strict=True)))
            with writer.block(f"if {writer.use('phase')}[b] == {number}:"):
                writer.line(f"score[pick] = {reach.name}(pick, fault, {slices})")
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
