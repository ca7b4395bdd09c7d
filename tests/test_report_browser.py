"""The report in a real browser, opened from the disk: sorting, examples, keys, widths, contrast, hostile texts."""

import pytest
from browsing import CHROMIUM, CONTRAST, MARKS
from command import ALL, ROWS, call, write_rows

pytestmark = MARKS
ARABIC = {
    "summary": "أغلق الجسر بعد العاصفة. أخبرت آمي راج.",
    "reference": "أغلق الجسر القديم بعد العاصفة.",
    "article": "ارتفع النهر. أغلق الجسر القديم بعد العاصفة.",
}
HOSTILE = "</script><script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">\x00"


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser):
    """Opens a report; whatever the page logs as an error, or asks of a network, fails the test."""
    pages = []

    def start(path, fragment="", **options):
        page = browser.new_page(**{"viewport": {"width": 1200, "height": 900}, **options})
        page.set_default_timeout(60_000)
        page.wrong = []
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("console", lambda message: page.wrong.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: page.wrong.append(request.url) if "file:" not in request.url else None)
        page.goto(f"file://{path}{fragment}")
        pages.append(page)
        return page

    yield start
    assert [wrong for page in pages for wrong in page.wrong] == []
    for page in pages:
        page.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Three systems; one example is in Arabic."""
    rows = [*ROWS, *({**row, "model": "third", "summary": f"Raj left. {row['summary']}"} for row in ROWS[:8])]
    rows = [{**row, **ARABIC} if row["id"] == "d7" and row["model"] == "good" else row for row in rows]
    folder = tmp_path_factory.mktemp("report")
    data = write_rows(folder / "x.jsonl", rows)
    assert call(data, *ALL, "--metrics", "mss,boc,bor,rouge,stats", "--out", folder / "out")[0] == 0
    return folder / "out" / "report.html"


def ranked(page):
    return page.locator("#ranks tbody th").all_inner_texts()


def listed(page):
    return page.locator("#list tbody td:first-child").all_inner_texts()


def shows(page, example):
    """Waits until the page shows the example. (Playwright's `wait_for_function` is code in a string, which the page's
    own policy forbids as soon as it has to wait.)"""
    from playwright.sync_api import expect

    expect(page.locator("#shown h3 a")).to_have_text(example)


def test_the_ranking_is_sorted_by_a_click(report, open_page):
    page = open_page(report)
    first = ranked(page)
    page.click("#ranks th[data-key=rouge1] button")
    assert page.get_attribute("#ranks th[data-key=rouge1]", "aria-sort") == "descending"
    values = [
        float(value)
        for value in page.locator("#ranks tbody td:nth-child(5)").evaluate_all("a => a.map(c => c.dataset.value)")
    ]
    assert values == sorted(values, reverse=True)
    page.keyboard.press("Enter")  # the button has the focus
    assert ranked(page)[0] != ranked(page)[-1] and page.get_attribute("th[data-key=rouge1]", "aria-sort") == "ascending"
    page.click("#ranks th:first-child button")
    assert ranked(page) == sorted(first)


def test_any_two_systems_are_compared(report, open_page):
    page = open_page(report)
    page.select_option("#one", label="bad")
    page.select_option("#other", label="good")
    row = page.locator("#pair tbody tr", has_text="rouge1 ").first.locator("td").all_inner_texts()
    page.select_option("#one", label="good")
    page.select_option("#other", label="bad")
    turned = page.locator("#pair tbody tr", has_text="rouge1 ").first.locator("td").all_inner_texts()
    assert row[:2] == turned[1::-1] and float(row[2]) == -float(turned[2]) and row[3:] == turned[3:]


def test_examples_are_chosen_marked_and_named_by_a_link(report, open_page):
    page = open_page(report)
    page.select_option("#one", label="good")
    page.select_option("#other", label="bad")
    page.select_option("#score", "boc_recall")
    gaps = [abs(float(gap)) for gap in page.locator("#list tbody td:last-child").all_inner_texts() if gap]
    assert len(listed(page)) == 8 and gaps == sorted(gaps, reverse=True)
    page.click("#list a >> text=d3")
    shows(page, "d3")
    assert "example=d3" in page.url
    assert page.locator("#shown .side:visible").count() == 2
    assert "Penny" in page.locator("#shown .side:visible mark.sm-invent").all_inner_texts()
    again = open_page(report, page.url[page.url.index("#") :])
    assert again.inner_text("#shown h3 a") == "d3" and again.input_value("#score") == "boc_recall"
    assert again.locator("#one option:checked").inner_text() == "good"


def test_a_sentence_leads_to_its_source(report, open_page):
    page = open_page(report, "#example=d1&one=good&other=bad&score=mss")
    button = page.locator(".side:visible .goto").first
    text = button.evaluate("b => b.parentElement.textContent").split(" ", 3)[3]
    button.click()
    assert page.inner_text(".source.here") == text.strip()


def test_search_and_filters(report, open_page):
    page = open_page(report)
    page.fill("#search", "الجسر")
    assert listed(page) == ["d7"]
    page.fill("#search", "nothing like this")
    assert listed(page) == [] and "No example" in page.inner_text("#more")
    page.fill("#search", "")
    page.select_option("#score", "rouge1")
    page.fill("#from", "0.99")
    few = listed(page)
    page.fill("#from", "")
    page.fill("#to", "0.99")
    assert sorted(few + listed(page)) == [f"d{number}" for number in range(8)]


def test_keys(report, open_page):
    page = open_page(report)
    first, second, *_ = listed(page)
    page.keyboard.press("j")
    shows(page, second)
    page.keyboard.press("k")
    shows(page, first)
    page.keyboard.press("/")
    page.keyboard.type("jk/")
    assert page.input_value("#search") == "jk/" and listed(page) == []


def test_arabic_runs_from_the_right(report, open_page):
    page = open_page(report, "#example=d7&one=good&other=third&score=rouge1")
    text = page.locator(".side:visible .view:visible .sm-text").first
    assert "الجسر" in text.inner_text()
    assert text.evaluate("e => getComputedStyle(e).direction") == "rtl"
    other = page.locator(".side:visible").nth(1).locator(".view:visible .sm-text").first
    assert other.evaluate("e => getComputedStyle(e).direction") == "ltr"


def test_a_phone(report, open_page):
    page = open_page(report, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#ranks tbody tr").first.bounding_box()["height"] < 90  # no name a letter a line


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_wcag_aa(scheme, report, open_page):
    for score in ("mss", "boc_f1", "rouge1"):
        page = open_page(report, f"#example=d2&one=good&other=bad&score={score}", color_scheme=scheme)
        assert page.evaluate("document.documentElement.classList.contains('dark')") == (scheme == "dark")
        assert page.evaluate(CONTRAST) == []


def test_in_print_the_controls_are_gone(report, open_page):
    page = open_page(report)
    page.emulate_media(media="print")
    assert not page.is_visible("#search") and page.is_visible("#ranks") and page.is_visible("#shown article")


def test_one_system(tmp_path, open_page):
    data = write_rows(tmp_path / "x.jsonl", ROWS[:8])
    call(data, *ALL, "--metrics", "rouge", "--out", tmp_path / "out")
    page = open_page(tmp_path / "out" / "report.html")
    assert not page.is_visible("#two") and page.locator("#shown .side:visible").count() == 1


def test_hostile_texts_appear_as_text(tmp_path, open_page):
    ids = {"d0": "constructor", "d1": "__proto__", "d2": HOSTILE, "d3": "a" * 2000}
    rows = [{**row, "id": ids.get(row["id"], row["id"]), "summary": HOSTILE + row["summary"]} for row in ROWS]
    rows = [{**row, "model": f"{row['model']} {HOSTILE}", "reference": f"{HOSTILE} storm"} for row in rows]
    rows[0]["article"] = "A word. " * 125_000
    data = write_rows(tmp_path / "x.jsonl", rows)
    call(data, *ALL, "--metrics", "boc,rouge,stats", "--out", tmp_path / "out")
    page = open_page(tmp_path / "out" / "report.html")
    assert sorted(listed(page))[:2] == [HOSTILE.replace("\x00", "\u2400"), "__proto__"]
    for name in ("constructor", "__proto__"):
        page.click(f"#list a >> text={name}")
        shows(page, name)
        assert "</script><script>" in page.inner_text("#shown .side:visible .sm-text >> nth=0")
    assert "Comparison of 2 systems" in page.title() and page.locator("img").count() == 0


def test_a_large_one_is_under_five_megabytes(tmp_path, open_page):
    """16 systems with 100 examples, all of them wanted; `benchmarks/report_page.py` times such a page."""
    several = [(n, m, row) for row in ROWS for n in range(13) for m in range(8)]
    rows = [{**row, "id": f"{row['id']}-{n}", "model": f"{row['model']} {m}"} for n, m, row in several]
    rows = [{**row, "summary": row["summary"] * 3, "reference": row["reference"] * 3} for row in rows]
    data = write_rows(tmp_path / "x.jsonl", rows)
    call(data, *ALL, "--metrics", "rouge,boc", "--out", tmp_path / "out", "--report-examples", 104)
    path = tmp_path / "out" / "report.html"
    assert 3_000_000 < path.stat().st_size < 5_000_000
    page = open_page(path)
    assert page.locator("#ranks tbody tr").count() == 16 and page.is_visible("#shown article")
