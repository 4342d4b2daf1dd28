"""A Chart in, an SVG element out, in the colours of the page that it stands on."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from gnarl_runtime.reports.contents import Chart, Line

WIDTH, HEIGHT = 460, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 12, 36
# Told apart by form as well as by colour (Okabe and Ito), in both themes.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8a6d00")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4")


def svg_of(chart: Chart) -> str:
    """Axes with a few numbers, a line or a point per entry, and a legend if there are several."""
    across = [x for line in chart.lines for x, _ in line.points]
    up = [y for line in chart.lines for _, y in line.points]
    scale_x = _Scale(across, _LEFT, WIDTH - _RIGHT, chart.logarithmic)
    scale_y = _Scale(up, HEIGHT - _BOTTOM, _TOP, False)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(chart.title)}">',
        f'<path class="axis" d="M{_LEFT} {_TOP}V{HEIGHT - _BOTTOM}H{WIDTH - _RIGHT}"/>',
        *_ticks(scale_x, scale_y, chart),
        *(part for k, line in enumerate(chart.lines) for part in _drawn(k, line, scale_x, scale_y)),
        "</svg>",
    ]
    legend = _legend(chart.lines) if len(chart.lines) > 1 else ""
    caption = f"<figcaption>{html.escape(chart.title)}{legend}</figcaption>"
    return f"<figure>{''.join(parts)}{caption}</figure>"


class _Scale:
    """Numbers to places on the picture."""

    def __init__(self, values: Sequence[float], start: float, end: float, log: bool) -> None:
        self.log, self.start, self.end = log, start, end
        self.low, self.high = min(values), max(values)
        if self.low == self.high:
            self.low, self.high = (
                (self.low / 2, self.high * 2) if log else (self.low - 0.5, self.high + 0.5)
            )

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(max(value, self.low))
        return round(self.start + (self.end - self.start) * (at - low) / (high - low), 1)

    def ticks(self) -> list[float]:
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            found = [10.0**k for k in range(first, last + 1)]
            return found if len(found) > 1 else [self.low, self.high]
        step = 10 ** math.floor(math.log10((self.high - self.low) / 2))
        for factor in (1, 2, 5, 10):
            if (self.high - self.low) / (step * factor) <= 5:
                step *= factor
                break
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _ticks(across: _Scale, up: _Scale, chart: Chart) -> list[str]:
    base = HEIGHT - _BOTTOM
    parts = [
        f'<text x="{across(x)}" y="{base + 15}" text-anchor="middle">{x:.6g}</text>'
        for x in across.ticks()
    ]
    for y in up.ticks():
        parts.append(f'<path class="grid" d="M{_LEFT} {up(y)}H{WIDTH - _RIGHT}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{up(y) + 4}" text-anchor="end">{y:.6g}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    label = html.escape(chart.across)
    parts.append(f'<text x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">{label}</text>')
    return parts


def _drawn(number: int, line: Line, across: _Scale, up: _Scale) -> list[str]:
    colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
    if not line.joined or len(line.points) == 1:
        return [
            f'<circle cx="{across(x)}" cy="{up(y)}" r="4.5" fill="{colour}"/>'
            f'<text x="{across(x) + 7}" y="{up(y) - 6}">{html.escape(line.name)}</text>'
            for x, y in line.points
        ]
    path = "L".join(f"{across(x)} {up(y)}" for x, y in line.points)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return [f'<path class="line" stroke="{colour}"{dashed} d="M{path}"/>']


def _legend(lines: Sequence[Line]) -> str:
    shown = [
        f'<span><svg viewBox="0 0 26 8" class="key"><path class="line" stroke="{_COLOURS[k % 5]}" '
        f'stroke-dasharray="{_DASHES[k % 5]}" d="M0 4H26"/></svg> {html.escape(line.name)}</span>'
        for k, line in enumerate(lines)
        if line.joined
    ]
    return f'<span class="legend">{"".join(shown)}</span>' if shown else ""
