"""`instances` blocks in, checked instance sets out."""

from __future__ import annotations

import math

from gnarl_dsl import model
from gnarl_dsl.check.context import Declarations
from gnarl_dsl.check.hints import FOREIGN_FAMILIES, FOREIGN_SPLITS
from gnarl_dsl.language import registered, words
from gnarl_dsl.language.signatures import GeneratorSignature
from gnarl_dsl.report.diagnostics import Collector, Note
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

MAX_COUNT = 10**9
MAX_NODES = 100_000
MAX_CHOICES = 1000
_LIMITS = {
    "n": (1, MAX_NODES),
    "p": (0, 1),
    "m": (1, MAX_NODES),
    "k": (2, MAX_NODES),
    "degree": (0, MAX_NODES),
    "log_degree": (0, 1000),
    "exponent": (2, 100),
    "radius": (0, 2),
}
WHOLE_ARGUMENTS = ("n", "m", "k")


def check_instance_set(
    tree: ast.Instances, names: Declarations, laws: tuple[model.InputLaw, ...]
) -> model.InstanceSet:
    """Check every split of one set; all three splits must be there."""
    found = names.found
    splits: list[model.Split] = []
    first: dict[object, ast.Split] = {}
    for split in tree.splits:
        name = split.name.text
        if name not in words.SPLITS:
            fix = did_you_mean(name, words.SPLITS) or FOREIGN_SPLITS.get(name)
            expected = ", ".join(words.SPLITS)
            found.add("GN119", split.name.span, name=name, expected=expected, fix=fix)
            continue
        line = _split(split, names)
        key = (line.name, line.generator, line.args)
        if key in first:
            notes = [Note(first[key].span, "the first one is here")]
            word = f"{name} … {line.generator}(…) like this"
            found.add("GN124", split.span, word=word, notes=notes)
        first.setdefault(key, split)
        splits.append(line)
    given = {split.name for split in splits}
    missing = [name for name in words.SPLITS if name not in given]
    understood = all(split.name.text in words.SPLITS for split in tree.splits)
    if missing and understood and "instances" not in names.lost_blocks:
        found.add("GN132", tree.name.span, name=tree.name.text, missing=", ".join(missing))
    return model.InstanceSet.model_construct(
        span=tree.span, name=tree.name.text, splits=tuple(splits), laws=laws
    )


def _split(tree: ast.Split, names: Declarations) -> model.Split:
    found = names.found
    count = tree.count.value
    if not count.is_integer() or not 1 <= count <= MAX_COUNT:
        allowed = f"a whole number from 1 to {MAX_COUNT:,}"
        found.add("GN121", tree.count.span, name="the number of instances", range=allowed)
        count = 1
    args = tuple(_draw(arg, found) for arg in tree.args)
    _check_generator(tree, names)
    return model.Split.model_construct(
        name=tree.name.text, count=int(count), generator=tree.generator.text, args=args
    )


def _check_generator(tree: ast.Split, names: Declarations) -> None:
    found, word = names.found, tree.generator
    signature = names.family(word.text)
    if signature is None and names.is_lost(word.text):
        return
    if signature is None:
        families = [*names.externs_of("generator"), *registered.GENERATORS]
        fix = did_you_mean(word.text, families) or FOREIGN_FAMILIES.get(word.text)
        expected = ", ".join(families)
        found.add("GN120", word.span, name=word.text, expected=expected, fix=fix)
        return
    own = word.text in names.externs_of("generator")
    if names.graph is not None and names.graph.complete and word.text != "complete" and not own:
        found.add("GN133", word.span, name=word.text)
    given = [arg.name.text for arg in tree.args]
    wanted = ("n", *_form(signature, given))
    known = {name for form in signature.forms for name in form}
    form = f"{word.text}({', '.join(f'{name} = …' for name in wanted)})"
    for position, arg in enumerate(tree.args):
        name = arg.name.text
        if name not in wanted or name in given[:position]:
            which = "a second" if name in wanted else "an argument"
            if name in known and name not in wanted:
                which = f"both `{', '.join(wanted[1:])}` and"
            span = arg.name.span
            found.add("GN134", span, name=name, which=which, generator=word.text, form=form)
    for name in wanted:
        if name not in given:
            found.add("GN135", word.span, name=name, generator=word.text, form=form)


def _form(signature: GeneratorSignature, given: list[str]) -> tuple[str, ...]:
    """Which of the ways to give its arguments is meant."""
    return max(signature.forms, key=lambda form: len(set(form).intersection(given)))


def _draw(tree: ast.GeneratorArg, found: Collector) -> model.Draw:
    name, value = tree.name.text, tree.value
    if isinstance(value, ast.Between):
        kind, values = "between", [value.low.value, value.high.value]
        if not values[0] <= values[1]:
            found.add("GN141", value.span, low=value.low.text, high=value.high.text)
    else:
        kind, values = "one_of", _listed(value, found)
    low, high = _LIMITS.get(name, (-math.inf, math.inf))
    whole = name not in WHOLE_ARGUMENTS or all(float(item).is_integer() for item in values)
    if not (whole and all(low <= item <= high for item in values)):
        kinds = "whole numbers" if name in WHOLE_ARGUMENTS else "numbers"
        text = f"{kinds} from {low:,} to {high:,}"
        found.add("GN121", value.span, name=f"`{name}`", range=text)
    return model.Draw.model_construct(name=name, kind=kind, values=tuple(values))


def _listed(value: ast.OneOf, found: Collector) -> list[float]:
    """The numbers of `{1, 4..6}`; nothing of a range that is empty, broken or huge."""
    values: list[float] = []
    for first, last in value.items:
        low, high = first.value, last.value
        if first is last:
            values.append(low)
        elif not (low.is_integer() and high.is_integer() and low <= high):
            span = first.span.to(last.span)
            found.add("GN141", span, low=first.text, high=last.text)
        elif high - low >= MAX_CHOICES or len(values) > MAX_CHOICES:
            limit = f"{MAX_CHOICES:,}"
            found.add("GN142", value.span, limit=limit, form=f"[{first.text}, {last.text}]")
        else:
            values += [float(item) for item in range(int(low), int(high) + 1)]
    return values
