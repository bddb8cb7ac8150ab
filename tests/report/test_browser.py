"""The report in a real browser: what a reader does with keys and mouse, and what is seen then."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.report import samples

from browser import Browser, program
from plait.cli.main import main
from plait.evidence.result import Result
from plait.report.html import to_html

Opened = Callable[..., Browser]

EXAMPLES = Path(__file__).parents[2] / "examples"

if program() is None:
    message = (
        "NO BROWSER: the HTML report is NOT tested. Install chromium"
        " (tools/install_browser.sh, or apt-get install chromium)."
    )
    warnings.warn(message, stacklevel=1)
    pytest.skip(message, allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all the tests: it takes longer to start than most of them."""
    started = Browser()
    yield started
    started.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    def show(result: Result, hash: str = "", width: int = 1440) -> Browser:
        page = tmp_path / "report.html"
        page.write_text(to_html(result), encoding="utf-8")
        browser.size(width, 900)
        browser.prefer("light")
        browser.open(page, hash)
        return browser

    yield show
    assert browser.messages == [], "no errors, no blocked requests"


def _row(browser: Browser) -> int:
    """The current row, from 1; timeline, slider and counter have to agree about it."""
    row = int(browser.run("Number(document.querySelector('.row.current').id.slice(4))"))
    assert browser.run("Number(document.getElementById('slider').value)") == row - 1
    assert f"row {row} of" in browser.run("document.getElementById('count').textContent")
    assert browser.run("document.querySelectorAll('.row[aria-selected=true]').length") == 1
    return row


def _values(browser: Browser) -> dict[str, str]:
    found: dict[str, str] = browser.run(
        "Object.fromEntries([...document.querySelectorAll('#variables tbody tr')]"
        ".map(row => [row.cells[0].textContent, row.cells[1].textContent]))"
    )
    return found


def _lines(browser: Browser) -> dict[str, str]:
    """The marked lines of the source: line -> threads there; the current one has a star."""
    found: dict[str, str] = browser.run(
        "Object.fromEntries([...document.querySelectorAll('#source .line.here')].map(line => [line.dataset.line,"
        " line.querySelector('.marks').textContent + (line.classList.contains('current') ? '*' : '')]))"
    )
    return found


def test_keys_step_through_the_execution(opened: Opened) -> None:
    browser = opened(samples.lost_update())
    assert _row(browser) == 1
    walked = []
    for key in (
        "ArrowRight",
        "j",
        "j",
        "ArrowLeft",
        "k",
        "End",
        "ArrowRight",
        "p",
        "p",
        "n",
        "Home",
        "k",
        "n",
    ):
        browser.key(key)
        walked.append(_row(browser))
    # Other threads go on at rows 4, 5, 6, 8, 9 and 11.
    assert walked == [2, 3, 4, 3, 2, 12, 12, 11, 9, 11, 1, 1, 4]


def test_source_and_variables_follow(opened: Opened) -> None:
    browser = opened(samples.lost_update())
    assert _lines(browser) == {"17": "1*"}
    assert _values(browser) == {"counter": "0", "limit": "-7"}
    browser.click("#row-6")
    assert _row(browser) == 6
    assert _lines(browser) == {"11": "23*", "20": "1"}
    assert _values(browser) == {"counter": "1", "limit": "-7"}
    assert (
        browser.run("document.querySelector('#variables tr.written').cells[0].textContent")
        == "counter"
    )
    assert "step 6" in browser.run(
        "document.querySelector('#variables tr.written').cells[2].textContent"
    )
    assert "counter = 1" in browser.run(
        "document.querySelector('.line.current .values').textContent"
    )
    assert "add_one" in browser.run("document.getElementById('now').textContent")


def test_clicks_jump(opened: Opened) -> None:
    browser = opened(samples.lost_update())
    browser.click(".causes li:nth-child(1) .link")
    assert _row(browser) == 9
    browser.click(".causes li:nth-child(2) .link")
    assert _row(browser) == 5
    browser.click("#source .line[data-line='11']")
    assert _row(browser) == 6
    browser.click("#source .line[data-line='11']")
    assert _row(browser) == 9
    browser.click("#source .line[data-line='11']")
    assert _row(browser) == 6, "after the last one the first again"
    browser.click("#orders-picture .event[data-row='3']")
    assert _row(browser) == 4
    browser.click(".controls button:nth-of-type(4)")
    assert _row(browser) == 5
    browser.click("#slider")
    assert _row(browser) in (6, 7)
    browser.click("#variables tbody tr:first-child .writer .link")
    assert _row(browser) == 6


def test_the_address_has_the_position(opened: Opened) -> None:
    browser = opened(samples.lost_update(), "#row=7")
    assert _row(browser) == 7
    browser.key("j")
    browser.wait("location.hash === '#row=8'")
    browser.run("location.hash = '#row=3'")
    browser.wait("document.querySelector('.row.current').id === 'row-3'")
    opened(samples.lost_update(), "#row=99999")
    assert _row(browser) == 12
    opened(samples.lost_update(), "#row=x'\"<b>")
    assert _row(browser) == 1


def test_light_and_dark(opened: Opened) -> None:
    browser = opened(samples.lost_update())
    colour = "getComputedStyle(document.body).backgroundColor"
    light = browser.run(colour)
    browser.prefer("dark")
    dark = browser.run(colour)
    assert light != dark
    browser.click("#theme")
    assert browser.run(colour) == light
    browser.click("#theme")
    assert browser.run(colour) == dark
    browser.prefer("light")
    assert browser.run(colour) == dark, "what was chosen stays"
    browser.run("localStorage.clear()")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_have_enough_contrast(opened: Opened, theme: str) -> None:
    browser = opened(samples.lost_update(), "#row=6")
    browser.run(f"document.documentElement.dataset.theme = '{theme}'")
    assert browser.run(CONTRASTS) == []


# Texts whose contrast with what is behind them is below 4.5 (WCAG AA).
CONTRASTS = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const mixed = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => colour.map((part) => part / 255)
    .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const poor = new Set();
  for (const node of document.querySelectorAll("body *:not(script):not(svg *)")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
    if (!node.getClientRects().length || node.closest(".on-paper")) continue;
    const behind = [];
    for (let at = node; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
    const [one, other] = [light(mixed(behind)), light(mixed([...behind, getComputedStyle(node).color]))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) poor.add(`${node.className}: ${node.textContent.slice(0, 20)} ${contrast.toFixed(2)}`);
  }
  return [...poor];
})()"""


def test_locks_and_switches_are_drawn(opened: Opened) -> None:
    browser = opened(samples.deadlock())
    assert browser.run("document.querySelectorAll('.lines .held').length") == 3
    assert (
        browser.run("document.querySelector('.lines .held title').textContent")
        == "thread 2 holds fork_a"
    )
    assert browser.run("document.querySelectorAll('.lines .switch').length") == 3
    assert browser.run("document.querySelectorAll('svg.circle .edge.waits').length") == 3
    browser.key("End")
    assert _lines(browser)["11"] == "23"
    assert "holds fork_c" in browser.run("document.getElementById('now').textContent")
    ends = browser.run("[...document.querySelectorAll('.ending')].map(node => node.textContent)")
    assert ends == [
        "2waits for mutex fork_b",
        "3waits for mutex fork_c",
        "4waits for mutex fork_a",
        "1waits for thread 2 to end",
    ]


def test_the_current_line_is_in_view(opened: Opened) -> None:
    result = samples.lost_update()
    source = result.sources[0]
    padding = 300
    source.lines[:0] = [""] * padding
    for place in {id(row.place): row.place for row in result.trace}.values():
        place.line += padding
    browser = opened(result)
    for _ in result.trace:
        visible = browser.run(
            "(() => { const line = document.querySelector('.line.current').getBoundingClientRect();"
            " const box = document.getElementById('source').getBoundingClientRect();"
            " return line.top >= box.top && line.bottom <= box.bottom; })()"
        )
        assert visible
        browser.key("j")


def test_race(opened: Opened) -> None:
    browser = opened(samples.race())
    first, second = browser.run(
        "[...document.querySelectorAll('.access')].map(node => node.textContent)"
    )
    assert "no lock" in first and "guard" in second and "locks guard" in second
    browser.click(".access:nth-child(2) p:last-child .link")
    assert _row(browser) == 3


def test_read_from_and_write_order(opened: Opened) -> None:
    browser = opened(samples.lost_update())
    browser.run("document.getElementById('orders').scrollIntoView()")
    browser.wait("document.querySelectorAll('#orders-picture .event').length === 10")
    count = "document.querySelectorAll('#orders-picture .edge.{}').length"
    assert [browser.run(count.format(kind)) for kind in ("rf", "ws", "sync")] == [1, 1, 4]
    title = "document.querySelector('#orders-picture .edge.rf title').textContent"
    assert browser.run(title) == "read from: counter"


def test_proof(opened: Opened) -> None:
    browser = opened(samples.proof())
    assert browser.run("document.getElementById('execution')") is None
    assert browser.run("document.querySelectorAll('table.invariants tbody tr').length") == 4
    assert browser.run("document.querySelectorAll('#source .line.invariant').length") == 4
    browser.click("table.invariants tbody tr:nth-child(3) .link")
    assert browser.run("document.querySelector('.line.flash').dataset.line") == "21"
    browser.run(
        "[...document.querySelectorAll('#tree .zoom button')].find(node => node.textContent === 'all').click()"
    )
    assert browser.run("document.querySelectorAll('#tree-picture .node').length") == 40
    assert browser.run("document.querySelectorAll('#tree-picture .edge.cover').length") == 8
    browser.click("#tree-picture .node[data-node='4']")
    detail = browser.run("document.getElementById('tree-detail').textContent")
    assert "Node 4" in detail and "covered by" in detail and "total.c:" in detail
    assert browser.run("document.querySelectorAll('.plot').length") == 3


def test_keys_walk_in_the_tree(opened: Opened) -> None:
    browser = opened(samples.proof())
    browser.run("document.querySelector('#tree .picture').focus()")
    walked = []
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowUp"):
        browser.key(key)
        walked.append(browser.run("document.querySelector('#tree-detail h3').textContent"))
    assert walked == [f"Node {number}" for number in (1, 2, 3, 1, 0, 0)]
    browser.click("#tree summary")
    browser.wait("document.querySelectorAll('#tree details tbody tr').length === 40")


def test_large_trees_show_a_part(opened: Opened) -> None:
    browser = opened(samples.proof(2000))
    shown = "document.querySelectorAll('#tree-picture .node').length"
    opened_nodes = browser.run(shown)
    assert 10 < opened_nodes < 300
    size = browser.run(
        "(() => { const box = document.getElementById('tree-picture').getBoundingClientRect(),"
        " view = document.querySelector('#tree .picture'),"
        " text = document.querySelector('#tree-picture .node text').getBoundingClientRect();"
        " return [box.width <= view.clientWidth, box.height <= view.clientHeight, text.height]; })()"
    )
    assert size[:2] == [True, True] and size[2] >= 9, "fitted to the page, and readable"
    browser.run(
        "[...document.querySelectorAll('#tree .zoom button')].find(node => node.textContent === 'all').click()"
    )
    assert browser.run(shown) == 300
    browser.run(
        "[...document.querySelectorAll('#tree .zoom button')].find(node => node.textContent === 'fit').click()"
    )
    inner = browser.run(
        "document.querySelector('#tree-picture .node .more').parentNode.dataset.node"
    )
    browser.run(
        f"document.querySelector('#tree-picture .node[data-node=\"{inner}\"]').dispatchEvent(new Event('click'))"
    )
    browser.run(
        "[...document.querySelectorAll('#tree-detail button')].find(node => /below/.test(node.textContent)).click()"
    )
    assert (
        browser.run(f"document.querySelector('#tree-picture .node[data-node=\"{inner}\"] .more')")
        is None
    )


def test_statistics_begin_with_words(opened: Opened) -> None:
    browser = opened(samples.lost_update())
    words = browser.run("document.querySelector('#statistics h2').nextElementSibling.textContent")
    assert words.startswith("It took ") and words.endswith(".")
    assert browser.run("document.querySelector('#statistics details').open") is False
    assert browser.run("document.querySelectorAll('#statistics details .numbers dt').length") > 3


def test_the_execution_comes_first(opened: Opened) -> None:
    browser = opened(samples.lost_update())
    headings = browser.run("[...document.querySelectorAll('h2')].map(node => node.textContent)")
    assert headings[:2] == ["Execution", "Why it goes wrong"]
    message = samples.lost_update().violation.message  # type: ignore[union-attr]
    assert browser.run("document.querySelector('main').textContent").count(message) <= 1


def test_long_lines_are_all_there(opened: Opened) -> None:
    browser = opened(samples.proof(), width=700)
    wide = browser.run(
        "[...document.querySelectorAll('#source .line, .invariants-pane')]"
        ".filter(node => node.scrollWidth > node.clientWidth + 1).length"
    )
    assert wide == 0


def test_bars_show_where_the_time_went(opened: Opened) -> None:
    browser = opened(samples.lost_update())
    bars = browser.run(
        "[...document.querySelectorAll('.bars > div')].map(node => [node.firstChild.textContent, node.querySelector('.bar').getBoundingClientRect().width])"
    )
    assert [name for name, _ in bars] == ["wall", "cpu", "solving"]
    assert bars[0][1] > bars[1][1] > bars[2][1] > 0


def test_unknown_has_plots_and_no_empty_section(opened: Opened) -> None:
    browser = opened(samples.unknown())
    headings = browser.run("[...document.querySelectorAll('h2')].map(node => node.textContent)")
    assert headings == ["Program", "Statistics", "What this relies on"]
    assert browser.run("document.querySelectorAll('.plot').length") == 3


def test_a_result_without_anything(opened: Opened) -> None:
    browser = opened(Result("1", [], "main", "LP64", [], "explore", "unknown", "nothing to do"))
    assert browser.run("document.querySelectorAll('section').length") == 0
    assert "nothing to do" in browser.run("document.querySelector('h1').textContent")


def test_hostile_texts_stay_texts(opened: Opened) -> None:
    browser = opened(samples.hostile())
    for key in ["j"] * 9 + ["Home", "n"]:
        browser.key(key)
    assert browser.run("typeof window.hacked") == "undefined"
    assert browser.run("document.querySelectorAll('script').length") == 2
    assert browser.run("document.querySelectorAll('img, b').length") == 0
    assert samples.HOSTILE[0] in browser.run("document.querySelector('h1').textContent")
    source = browser.run("document.getElementById('source').textContent")
    assert "\\u202ereversed" in source, "nothing in the source may look like something else"


def test_five_thousand_rows(opened: Opened) -> None:
    """Limits that a machine with other work to do keeps too; tools/bench_report.py measures."""
    browser = opened(samples.long_trace(5000))
    assert (
        browser.run("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") < 8000
    )
    browser.key("End")
    assert _row(browser) == 5000
    assert browser.run("document.querySelectorAll('.row[data-row]').length") < 120, (
        "only what is seen is in the page"
    )
    browser.key("p")
    browser.run("location.hash = '#row=2500'")
    browser.wait("document.querySelector('.row.current')?.id === 'row-2500'")
    inside = browser.run(
        "(() => { const row = document.querySelector('.row.current').getBoundingClientRect();"
        " const box = document.getElementById('lanes').getBoundingClientRect();"
        " return row.top >= box.top && row.bottom <= box.bottom; })()"
    )
    assert inside
    steps = (
        "(() => { const start = performance.now(); for (let i = 0; i < 50; i++) { dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }));"
        " document.body.offsetHeight; } return (performance.now() - start) / 50; })()"
    )
    assert browser.run(steps) < 500
    assert _row(browser) == 2550


def test_paper_has_everything(opened: Opened) -> None:
    browser = opened(samples.long_trace(300))
    paper = browser.pdf()
    assert paper.startswith(b"%PDF-") and len(re.findall(rb"/Type\s*/Page\b", paper)) > 5
    browser.ask("Emulation.setEmulatedMedia", media="print")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    rows = "document.getElementById('lanes').getBoundingClientRect().height / 300"
    assert browser.run(rows) > 10, "each row has its line"
    assert (
        browser.run(
            "[...document.querySelectorAll('button')].some(node => node.offsetParent && !node.matches('.link'))"
        )
        is False
    )
    assert browser.run("document.querySelectorAll('.row[data-row]').length") == 300
    browser.run("dispatchEvent(new Event('afterprint'))")
    browser.ask("Emulation.setEmulatedMedia", media="")
    assert browser.run("document.querySelectorAll('.row[data-row]').length") < 120


@pytest.mark.parametrize("name", [*samples.ALL])
@pytest.mark.parametrize("width", [400, 1440])
def test_nothing_is_wider_than_the_window(opened: Opened, name: str, width: int) -> None:
    browser = opened(samples.ALL[name](), width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_pages_of_real_results(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    main(["verify", "--property", "no-deadlock", "--html", str(page), str(EXAMPLES / "deadlock.c")])
    browser.size(1440, 900)
    browser.open(page)
    rows = int(browser.run("Number(document.getElementById('slider').max)")) + 1
    for row in range(1, rows + 1):
        assert _row(browser) == row
        assert browser.run("document.querySelectorAll('.line.here.current').length") == 1
        browser.key("j")
    assert browser.run("document.querySelectorAll('svg.circle .edge.waits').length") == 2
    assert browser.run("document.querySelectorAll('.lines .held').length") == 2
    assert browser.messages == []


def test_the_page_of_a_real_proof(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    main(["verify", "--engine", "impact", "--html", str(page), str(EXAMPLES / "locked_counter.c")])
    browser.open(page)
    assert browser.run("document.querySelector('.verdict').textContent") == "✓true"
    assert browser.run("document.querySelectorAll('#tree-picture .node').length") > 10
    assert browser.run("document.querySelectorAll('#source .line.invariant').length") > 0
    assert browser.messages == []


def test_readable_without_sight(opened: Opened) -> None:
    """Everything that can be operated has a name, and the step is announced."""
    browser = opened(samples.lost_update())
    nameless = browser.run(
        "[...document.querySelectorAll('button, input, [role=button], [tabindex], svg[role]')].filter(node =>"
        " !node.textContent.trim() && !node.getAttribute('aria-label') && !node.labels?.length).map(node => node.outerHTML)"
    )
    assert nameless == []
    assert browser.run("document.getElementById('now').getAttribute('aria-live')") == "polite"
    browser.key("j")
    active = browser.run("document.getElementById('lanes').getAttribute('aria-activedescendant')")
    assert active == "row-2"
    label = browser.run(f"document.getElementById({json.dumps(active)}).getAttribute('aria-label')")
    assert label.startswith("step 2, thread 1, line 18:")
