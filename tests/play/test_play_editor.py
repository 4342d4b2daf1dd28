"""The editor of the live page in a real browser: diagnostics, fixes, words, files."""

from __future__ import annotations

from typing import Any

from browser import Opened
from served import Served, open_live


def text(live: Opened) -> str:
    return str(live.page.input_value("#source"))


def write_over(live: Opened, old: str, new: str) -> None:
    """Select words and type others, as a person does."""
    at = text(live).index(old)
    live.page.focus("#source")
    live.value(f"document.getElementById('source').setSelectionRange({at}, {at + len(old)})")
    live.page.keyboard.type(new)


def test_a_mistake_is_told_as_it_is_typed_and_mended_by_a_click(
    live: Opened, server: Served
) -> None:
    page = live.page
    page.wait_for_selector("#found.clean")
    before = text(live)
    write_over(live, "edge(u, v)", "egde(u, v)")
    page.wait_for_selector("#findings li.error")
    assert "There is no function or let called egde" in live.text("#findings")
    assert page.locator(".squiggle").count() == 1
    page.click("button.fix >> nth=0")
    page.wait_for_selector("#found.clean")
    assert text(live) == before
    page.keyboard.press("Control+z")
    page.wait_for_selector("#findings li.error")
    assert "egde(u, v)" in text(live)
    page.keyboard.press("Alt+Enter")  # not before the fix is known
    live.wait_for(lambda: page.locator("button.fix").count() > 0)
    page.keyboard.press("Alt+Enter")
    live.wait_for(lambda: text(live) == before)


def test_words_are_suggested_explained_and_coloured(live: Opened) -> None:
    page = live.page
    assert live.text("#paint .block >> nth=1") == "problem"
    write_over(live, "allow edge(u, v)", "allow edge(u, v) and not rea")
    page.wait_for_selector("#words li")
    assert live.text("#words b >> nth=0") == "reach"
    page.keyboard.press("Enter")
    assert "and not reach" in text(live)
    page.keyboard.type("[v]")
    page.wait_for_selector("#found.clean")
    page.click("#tab-table")
    assert "and not reach[v]" in live.text("#panel-table pre")
    page.focus("#source")
    live.value("(i => document.getElementById('source').setSelectionRange(i, i))"
               f"({text(live).index('bfs_depth') + 2})")  # fmt: skip
    page.keyboard.press("Alt+i")
    page.wait_for_selector("#tip")
    assert "bfs_depth" in live.text("#tip")


def test_saving_formatting_and_reloading_in_the_middle(live: Opened, server: Served) -> None:
    page, file = live.page, server.folder / "bfs.gnarl"
    write_over(live, "phase from(u)", "phase   from( u )")
    page.wait_for_selector("#saved:has-text('unsaved')")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert "phase   from( u )" in text(live)
    assert "unsaved text from before" in live.text("#saved")
    page.click("#format")
    live.wait_for(lambda: "phase from(u)" in text(live))
    write_over(live, "has been searched", "has been seen")
    page.keyboard.press("Control+s")
    live.wait_for(lambda: "seen" in file.read_text("utf-8"))
    page.wait_for_selector("#saved:has-text('saved')")
    page.select_option("#files", "mvc.gnarl")
    live.wait_for(lambda: "problem mvc" in text(live))
    page.select_option("#files", "shipped dijkstra")
    live.wait_for(lambda: "problem dijkstra" in text(live))
    assert "not saved yet" in live.text("#saved")
    page.click("#save")
    live.wait_for(lambda: (server.folder / "dijkstra.gnarl").is_file())


def test_two_tabs_do_not_overwrite_each_other(chromium: Any, live: Opened, server: Served) -> None:
    other = open_live(chromium, server)
    write_over(live, "has been searched", "one")
    write_over(other, "has been searched", "two")
    live.page.click("#save")
    live.page.wait_for_selector("#saved:has-text('saved')")
    other.page.click("#save")
    other.page.wait_for_selector("#saved.wrong")
    assert '"one"' in (server.folder / "bfs.gnarl").read_text("utf-8")
    other.page.click("#saved button")
    live.wait_for(lambda: '"two"' in (server.folder / "bfs.gnarl").read_text("utf-8"))
    other.page.close()


def test_a_long_spec_is_edited_where_it_is_seen(live: Opened) -> None:
    page = live.page
    page.focus("#source")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\n".join(f"# line {number}" for number in range(80)))
    page.wait_for_selector("#gutter div >> nth=100", state="attached")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+End")
    page.keyboard.type("!")
    assert live.value("document.getElementById('source').scrollTop") == 0
    last = page.locator("#paint .row").last
    assert str(last.text_content()).endswith("79!")
    last.scroll_into_view_if_needed()
    box = last.locator(".code").bounding_box()
    page.mouse.click(box["x"] + 1, box["y"] + box["height"] / 2)
    page.keyboard.type("?")
    assert str(last.text_content()).startswith("?")
