"""How the pages look and are reached: axe-core, narrow screens, large text, no JavaScript, the
keyboard alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from served import AXE, WCAG, Served, logged_in, served
from tidewatch import DECISION, NOW, PAGES, make_home
from trials import drawn

HARD = f"""# 2026-11-16

## 09:00 issue: {"All that a title may be, and more of it. " * 6}{" ".join(f"#tag-{n}" for n in range(40))}
<!-- syn:20261116-hard0000 at=2026-11-16T09:00:00+00:00 project={"a-project-with-a-name-" * 4} by=ines via=cli -->

{"Unbroken" * 60}

{"| column " * 14}|
{"|---" * 14}|
{"| a cell of the table " * 14}|

```
{"code " * 80}
```

- [ ] Read it 📅 2026-11-18

- one
  - two
    - three
      > said {"very " * 30} much

מה שנכתב מימין לשמאל, עם [קישור](https://example.org) ו-`code`.

# A heading of the first rank
"""
ALL = PAGES | {"hard day": "/day/2026-11-16", "hard entry": "/entry/20261116-hard0000"}
ALL |= {"tasks": "/tasks", "text": "/edit?path=2026-11-16.md", "phone": "/phone"}
ALL |= {"browsers": "/devices", "deleted": "/deleted", "folder": "/folder"}
ALL |= {"print": "/print?since=2026-11-05&until=2026-11-05", "tag": "/tag/tag-1"}
ALL |= {"sums": "/sums", "book": "/book?since=2026-11-05&until=2026-11-05"}
ALL |= {"import": "/import"}
ALL |= {"rename": f"/entry/{DECISION}/rename", "replaced": f"/entry/{DECISION}/replaced"}
OF_A_MODE = {
    "type": "rule",
    "values": ["color-contrast", "target-size", "scrollable-region-focusable"],
}
"""What colours and a narrow screen may break; the rest is the same on both."""
OPEN = """() => document.querySelectorAll("details:not(.menu)")
  .forEach((one) => { one.open = true; })"""
"""Opens what is folded, but no menu: that lies above a part of its page."""
OF_MENU = """async (only) => {
  const menu = document.querySelector("header .menu");
  menu.open = true;
  const found = await axe.run(".menu[open] .panel", {runOnly: only, resultTypes: ["violations"]});
  menu.open = false;
  return found;
}"""
"""What is broken in the menu of all pages."""
REACHED = """() =>
  [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter((one) => !one.disabled && one.type !== "hidden" && one.checkVisibility())"""
SEEN = """() => {
  const of = (one) => {
    const parts = [one, ...one.querySelectorAll("rect")].map((part) => getComputedStyle(part));
    return JSON.stringify(parts.map((it) => [it.outlineStyle, it.outlineWidth, it.stroke, it.strokeWidth]));
  };
  const now = document.activeElement, last = window.last;
  if (last?.one === now) return [window.every.indexOf(now), true];  // a date has several stops
  const seen = !last || of(last.one) !== last.look;
  window.last = now === document.body ? null : {one: now, look: of(now)};
  return [now === document.body ? -1 : window.every.indexOf(now), seen];
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = make_home(tmp_path_factory.mktemp("look") / ".synaptic")
    (home / "journal" / "2026-11-16.md").write_text(HARD)
    with served(home, SYNAPTIC_NOW=NOW, TZ="UTC") as found:
        yield found


def overflow(page: Page) -> int:
    """Pixels by which the page is wider than the screen."""
    return int(
        page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
    )


def resize(page: Page, width: int) -> None:
    """Makes the window so wide, and waits until the page has followed."""
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate(
        "() => new Promise((drawn) => requestAnimationFrame(() => "
        "requestAnimationFrame(drawn)))"
    )


@pytest.mark.sweep
def test_no_page_breaks_a_rule_of_wcag_or_scrolls_sideways(
    browser: Browser, server: Served
) -> None:
    context = logged_in(
        browser, server, bypass_csp=True, reduced_motion="reduce"
    )  # no page of ours lets axe in
    page = context.new_page()
    settings = context.new_cdp_session(page)
    broken: list[str] = []
    for name, path in drawn("axe", ALL.items(), 3):
        page.goto(path)
        page.evaluate(OPEN)
        page.evaluate(AXE.read_text())
        for mode, width, only in (("light", 1280, WCAG), ("dark", 360, OF_A_MODE)):
            page.emulate_media(color_scheme=mode)  # type: ignore[arg-type]
            resize(page, width)
            found = page.evaluate(
                "(only) => axe.run({runOnly: only, resultTypes: ['violations']})", only
            )["violations"]
            if name == "today":
                found += page.evaluate(OF_MENU, only)["violations"]
            broken += [
                f"{name}, {mode} at {width}: {one['id']}: {node['html'][:150]} "
                f"{node['failureSummary'][-200:]}"
                for one in found
                for node in one["nodes"][:2]
            ]
            if (wider := overflow(page)) > 0:
                broken.append(f"{name} at {width}: {wider} px too wide")
        settings.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
        for width in (360, 1280):
            resize(page, width)
            if (wider := overflow(page)) > 0:
                broken.append(f"{name} at {width} with text of 200 %: {wider} px too wide")
        settings.send("Page.setFontSizes", {"fontSizes": {"standard": 16, "fixed": 13}})
    assert not broken, "\n".join(broken)


@pytest.mark.sweep
def test_every_page_reads_and_searches_without_javascript(
    browser: Browser, server: Served
) -> None:
    page = logged_in(browser, server, java_script_enabled=False).new_page()
    for name, path in drawn("without JavaScript", ALL.items(), 5):
        answer = page.goto(path)
        assert answer and answer.status == (404 if name == "error" else 200)
        assert page.locator("h1").count() == 1 and page.locator("h1").inner_text().strip(), name
    page.goto("/")
    page.get_by_role("link", name="Search").click()
    page.get_by_label("Search the journal").fill("what do gulls do to a gauge")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Gulls sit on gauge 2").first.click()
    expect(page.get_by_role("article")).to_contain_text("60 cm too high")
    page.goto("/")
    page.get_by_label("Text", exact=True).fill("The gauge is _clean_ again.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("article").first).to_contain_text("The gauge is clean again.")


@pytest.mark.sweep
def test_the_keyboard_reaches_everything_in_order_and_the_focus_is_seen(
    browser: Browser, server: Served
) -> None:
    page = logged_in(browser, server).new_page()
    for name in drawn("keyboard", ("today", "search", "calendar", "entry", "edit"), 2):
        page.goto(ALL[name])
        if name == "edit":  # its preview, which comes later, is reached, too
            expect(page.locator("#preview")).not_to_be_empty()
        expect(page.locator("[hx-get='/templates']:empty")).to_have_count(0)  # nor its menu
        page.evaluate(
            f"window.every = ({REACHED})(); document.activeElement.blur(); window.last = null"
        )
        page.locator("body").evaluate(
            "(body) => { body.tabIndex = -1; body.focus(); body.blur() }"
        )
        reached: list[int] = []
        for _ in range(400):
            page.keyboard.press("Tab")
            at, seen = page.evaluate(SEEN)
            assert seen, (
                f"{name}: the focus on "
                f"{page.evaluate('(n) => every[n].outerHTML', reached[-1])} is not seen"
            )
            if at == -1:
                break
            reached.append(at)
        missed = set(range(page.evaluate("every.length"))) - set(reached)
        assert not missed, (
            f"{name}: {[page.evaluate('(n) => every[n].outerHTML', n)[:120] for n in missed]}"
        )
        assert list(dict.fromkeys(reached)) == sorted(set(reached)), name


def test_single_keys_are_listed_and_can_be_turned_off(browser: Browser, server: Served) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/")
    page.keyboard.press("?")
    expect(page.locator(".keys")).to_contain_text("Calendar")
    page.keyboard.press("c")
    page.wait_for_url("**/calendar")
    page.keyboard.press("?")
    page.get_by_label("Single keys are on").uncheck()
    page.goto("/")
    page.keyboard.press("c")
    page.keyboard.press("?")
    expect(page.get_by_role("heading", level=1)).to_have_text("Today")
    expect(page.locator("#keys")).not_to_have_attribute("open", "")
