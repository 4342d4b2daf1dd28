"""A problem in, its description for people out: the paper's tables, filled from the spec."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from textwrap import wrap
from typing import assert_never

from gnarl_compiler.describe.feature_table import WIDTH, feature_rows, table_cells, table_lines
from gnarl_compiler.describe.oracle_reads import oracles_read_by
from gnarl_dsl.check.cost import describe
from gnarl_dsl.levels.levels import default_use, levels_of
from gnarl_dsl.model import (
    BestExpert,
    Draw,
    Expert,
    ForEach,
    GreedyExpert,
    InstanceSet,
    Let,
    Messages,
    Param,
    Phase,
    Problem,
    RuleExpert,
    SearchExpert,
    Statement,
    When,
    Window,
)
from gnarl_dsl.model.kinds import ABSOLUTE
from gnarl_dsl.report.source import Source, Span
from gnarl_dsl.syntax.waivers import Waiver, waivers_in

_LABEL = 13
_INDENT = "  "
Paint = Callable[[str], str]
Entry = tuple[str, str]


def plain(text: str) -> str:
    return text


def bold(text: str) -> str:
    return f"\033[1m{text}\033[0m"


def render_summary(problem: Problem, heading: Paint = plain) -> str:
    """The whole problem at 100 columns; `heading` paints names and labels."""
    sections = [
        _title(problem, heading),
        _entries(_setting(problem), heading),
        _features(problem, heading),
        _entries(_levels(problem), heading),
        _entries(_lets(problem), heading),
        *(_phase(problem, number, phase, heading) for number, phase in enumerate(problem.phases)),
        *(_entries(part(problem), heading) for part in (_endings, _goals, _views, _data, _verdict)),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _entries(entries: Iterable[Entry], heading: Paint) -> list[str]:
    """A label, and beside it the text; a label is written once for all its entries."""
    lines: list[str] = []
    last = ""
    for label, text in entries:
        shown = heading(label) + " " * (_LABEL - len(label)) if label != last else " " * _LABEL
        first, *rest = _wrapped(text, WIDTH - _LABEL)
        lines += [shown + first, *(" " * (_LABEL + 2) + line for line in rest)]
        last = label
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width - 2, break_long_words=False, break_on_hyphens=False) or [""]


# What it is


def _title(problem: Problem, heading: Paint) -> list[str]:
    first, *rest = _wrapped(f"{problem.name}: {problem.doc or 'no description'}", WIDTH)
    return [heading(problem.name) + first.removeprefix(problem.name), *rest]


def _setting(problem: Problem) -> Iterator[Entry]:
    for param in problem.params:
        yield "param", _param(param)
    graph = problem.graph
    words = ["directed" if graph.directed else "undirected"]
    words += [w for w in ("connected", "complete", "acyclic", "mutable") if getattr(graph, w)]
    yield "graph", " ".join(words)


def _param(param: Param) -> str:
    notes = [" | ".join(param.choices), param.doc]
    if param.value != param.default:
        notes.insert(0, f"default {_number(param.default)}")
    text = "; ".join(filter(None, notes))
    name = f"{param.name} in {param.unit}" if param.unit else param.name
    return f"{name} = {_number(param.value)}" + (f"   ({text})" if text else "")


def _features(problem: Problem, heading: Paint) -> list[str]:
    header, *body = table_lines(table_cells(problem))
    return [heading(header), "─" * max(map(len, [header, *body])), *body]


def _levels(problem: Problem) -> Iterator[Entry]:
    """For whom the levels of the table hold, and what makes numbers absolute."""
    use = default_use(problem)
    measures = levels_of(problem, use)
    for name in use.experts if measures else ():
        yield "levels", f"of who follows the expert {name}"
    for name in use.goals if measures else ():
        yield "levels", f"of who learns from {name} alone"
    absolute: dict[Span, list[str]] = {}
    for name, measure in measures.items():
        if measure.level is ABSOLUTE and measure.why is not None:
            absolute.setdefault(measure.why, []).append(name)
    for span, names in absolute.items():
        verb = "is" if len(names) == 1 else "are"
        place = f"line {problem.line_of(span)}: {problem.text_of(span)}"
        yield "levels", f"{', '.join(names)} {verb} absolute by {place}"


def _lets(problem: Problem) -> Iterator[Entry]:
    for let in problem.lets:
        yield "let", _let(problem, let)


def _let(problem: Problem, let: Let) -> str:
    params = f"({', '.join(param.name for param in let.params)})" if let.params else ""
    return f"{let.name}{params} = {problem.text_of(let.body.span)}"


# What happens


def _phase(problem: Problem, number: int, phase: Phase, heading: Paint) -> list[str]:
    allow = problem.text_of(phase.allow.span) if phase.allow is not None else "every node"
    when = f" when {problem.text_of(phase.when.span)}" if phase.when is not None else ""
    name = f"{number + 1}: {phase.name}({phase.variable}){when}"
    head = [("phase", name), ("  allow", allow)]
    if not phase.update:
        return _entries([*head, ("  update", "nothing")], heading)
    first, *rest = _statements(problem, phase.update, 0)
    lines = [*_entries([*head, ("  update", first)], heading)]
    return lines + [line for text in rest for line in _statement_lines(text)]


def _statement_lines(text: str) -> list[str]:
    depth = len(text) - len(text.lstrip())
    first, *rest = _wrapped(text.lstrip(), WIDTH - _LABEL - depth)
    margin = " " * (_LABEL + depth)
    return [margin + first, *(margin + _INDENT + line for line in rest)]


def _statements(problem: Problem, body: Iterable[Statement], depth: int) -> Iterator[str]:
    """The spec's own lines, one statement each, nested by indentation."""
    for statement in body:
        yield _INDENT * depth + problem.text_of(statement.span)
        if isinstance(statement, ForEach):
            yield from _statements(problem, statement.body, depth + 1)
        if isinstance(statement, When):
            yield from _statements(problem, statement.then, depth + 1)
            if statement.otherwise:
                yield _INDENT * depth + "else"
                yield from _statements(problem, statement.otherwise, depth + 1)


def _endings(problem: Problem) -> Iterator[Entry]:
    yield "horizon", f"{problem.text_of(problem.horizon.span)} rounds"
    if problem.limit is not None:
        yield "limit", f"{problem.text_of(problem.limit.span)} rounds"
    if problem.terminate is not None:
        yield "terminate", f"when {problem.text_of(problem.terminate.span)}"
    if problem.stop is not None:
        when = problem.stop.when
        rule = "" if when is None else f", when {problem.text_of(when.span)}"
        yield "may stop", f"at the start of a round{rule}"
    if problem.valid is not None:
        yield "valid", problem.text_of(problem.valid.span)
    if problem.correct is not None:
        yield "correct", problem.text_of(problem.correct.span)


# What it is for


def _goals(problem: Problem) -> Iterator[Entry]:
    for objective in problem.objectives:
        yield "objective", f"{objective.name} = {problem.text_of(objective.value.span)}"
    for reward in problem.rewards:
        yield "reward", f"{reward.name}: {reward.kind} {problem.text_of(reward.value.span)}"
    for metric in problem.metrics:
        yield "metric", f"{metric.name} = {problem.text_of(metric.value.span)}"


def _views(problem: Problem) -> Iterator[Entry]:
    lines: list[Window | Messages] = [*problem.windows, *problem.messages]
    for line in lines:
        word, _, rest = problem.text_of(line.span).partition(" ")
        yield word, rest


def _data(problem: Problem) -> Iterator[Entry]:
    for expert in problem.experts:
        yield "expert", f"{expert.name}: {_expert(problem, expert)}"
    for instances in problem.instances:
        for line in _splits(instances):
            yield "instances", f"{instances.name}: {line}"


def _expert(problem: Problem, expert: Expert) -> str:
    reads = f"read {'an' if problem.reads_oracle(expert.name) else 'no'} oracle"
    match expert:
        case GreedyExpert():
            return f"greedy on {expert.objective}"
        case SearchExpert():
            return f"search for {expert.objective or 'correct'}, {expert.work:,} picks per instance"
        case BestExpert():
            return f"the best of {', '.join(expert.members)} on each instance, which {reads}"
        case RuleExpert():
            return f"rules that {reads}"
        case _:
            assert_never(expert)


def _splits(instances: InstanceSet) -> Iterator[str]:
    for law in instances.laws:
        yield f"{law.input} ~ {law.source.label}"
    for split in instances.splits:
        args = ", ".join(f"{draw.name} = {_draw(draw)}" for draw in split.args)
        yield f"{split.name} {split.count} {split.generator}({args})"


def _draw(draw: Draw) -> str:
    values = [_number(value) for value in draw.values]
    if draw.kind == "between":
        return f"[{', '.join(values)}]"
    if len(values) == 1:
        return values[0]
    first, last = draw.values[0], draw.values[-1]
    if len(values) > 2 and list(draw.values) == [first + step for step in range(len(values))]:
        return f"{{{_number(first)}..{_number(last)}}}"
    return f"{{{', '.join(values)}}}"


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


# What it takes


def _verdict(problem: Problem) -> Iterator[Entry]:
    costs = problem.costs
    parts = ("mask", "update", "ending", "observation", "reward")
    each = ", ".join(f"{part} {describe(getattr(costs, part))}" for part in parts)
    yield "cost", f"{describe(costs.step)} per step: {each}"
    if costs.experts:
        each = ", ".join(f"{name} {describe(terms)}" for name, terms in costs.experts)
        yield "cost", f"per step of an expert: {each}"
    for file, source in enumerate(problem.sources):
        for waiver in waivers_in(Source(source.name, source.text), file):
            yield "waived", _waiver(waiver, source.name if file else "")
    yield "deployable", f"{'yes' if problem.deployable else 'no'}: {_deployable_reason(problem)}"
    yield "observed", ", ".join(row.name for row in feature_rows(problem) if not row.hidden)
    yield "hash", problem.hash


def _waiver(waiver: Waiver, inherited_from: str) -> str:
    where = f"line {waiver.line}" + (f" of {inherited_from}" if inherited_from else "")
    return f"{waiver.property}, {where}: {waiver.reason or 'no reason given'}"


def _deployable_reason(problem: Problem) -> str:
    clauses = {"limit": problem.limit, "terminate": problem.terminate}
    reads = {name: oracles_read_by(problem, formula) for name, formula in clauses.items()}
    told = [f"`{clause}` reads {', '.join(names)}" for clause, names in reads.items() if names]
    return " and ".join(told) or "an episode ends without reading an oracle"
