"""The demo apps in a real browser (Debian's Chromium, driven by Playwright), and over their API with two users."""

import csv
import gzip
import importlib.util
import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from browsing import CHROMIUM, CONTRAST, MARKS
from conftest import REQUIRED, load

from spaces import build

pytestmark = [
    *MARKS,
    pytest.mark.skipif(
        importlib.util.find_spec("gradio") is None, reason="gradio is not installed: the extra [spaces]"
    ),
]
NAMES = list(REQUIRED)
PRIMARY = {"sss": "sss", "mss": "mss", "boc": "boc_f1", "bor": "bor_f1"}
PREDICTION = "Amy and Raj closed the old bridge. Penny slept."
REFERENCE = "Raj and Amy closed the bridge after the storm. Lee and Penny left."
CHARACTERS = {"Amy": [], "Raj": [], "Penny": [], "Lee": []}


def options(name):
    """What the metric needs to score as the page's defaults do."""
    return {"characters": CHARACTERS} if name in ("boc", "bor") else {}


@pytest.fixture(scope="module")
def apps(tmp_path_factory, python, environment):
    """The four apps, each started from its built folder as a Space starts it; yields their addresses."""
    out, running, addresses = tmp_path_factory.mktemp("spaces"), [], {}
    for name in NAMES:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        addresses[name] = f"http://127.0.0.1:{port}"
        settings = {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port)}
        folder = build.build(name, out)
        command = [python, "app.py"]
        with open(out / f"{name}.log", "w") as log:
            started = subprocess.Popen(command, cwd=folder, env={**environment, **settings}, stdout=log, stderr=log)
        running.append(started)
    try:
        for name, address in addresses.items():
            for _ in range(240):
                try:
                    urllib.request.urlopen(address, timeout=5)
                    break
                except (urllib.error.URLError, ConnectionError, TimeoutError):
                    time.sleep(0.5)
            else:
                pytest.fail((out / f"{name}.log").read_text())
        yield addresses
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


@pytest.fixture
def page(browser):
    """A new visitor; fails the test where the page logs an error or asks another host for anything."""
    context = browser.new_context(viewport={"width": 1000, "height": 900}, accept_downloads=True)
    tab = context.new_page()
    tab.set_default_timeout(60_000)
    outside, errors = [], []
    tab.on("request", lambda request: outside.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    yield tab
    context.close()
    assert not [url for url in outside if not re.match(r"(http://127\.0\.0\.1:|data:|blob:)", url)]
    assert not errors


def fill(page, name, prediction=PREDICTION, reference=REFERENCE):
    page.fill("#prediction textarea", prediction)
    page.fill("#reference textarea", reference)
    if name in ("boc", "bor"):
        page.fill("#characters textarea", "\n".join(CHARACTERS))


def until(act, selector, page):
    """Act until the page shows the selector: again where it had drawn its parts, but was not listening yet."""
    from playwright.sync_api import TimeoutError as NotYet

    for _ in range(6):
        act()
        try:
            return page.wait_for_selector(selector, timeout=8000)
        except NotYet:
            continue
    raise AssertionError(f"the page does not show {selector}")


def open_files(page, address):
    page.goto(address)
    until(page.get_by_role("tab", name="File").click, "#score-file", page)


def upload(page, path):
    until(lambda: page.set_input_files("#file input[type=file]", str(path)), f"#file :text('{path.name}')", page)


def number(page):
    """The score that the page shows, with all its digits."""
    page.wait_for_selector("#number .sm-score")
    return float(page.get_attribute("#number .sm-score", "data-score"))


@pytest.mark.parametrize("name", NAMES)
class TestPage:
    def test_fill_score_and_read(self, name, apps, page):
        page.goto(apps[name])
        fill(page, name)
        page.click("#score")
        expected = load(name, **options(name)).compute(predictions=[PREDICTION], references=[REFERENCE])[PRIMARY[name]]
        assert number(page) == pytest.approx(expected, abs=1e-5)
        evidence = page.inner_text("#evidence")
        if name == "sss":
            assert "cosine of the embeddings" in evidence and "product so far" in evidence
            assert "AraBERT" in page.inner_text("#number")
            assert "bridge" in page.locator("#evidence mark.sm-match").all_inner_texts()
        elif name == "mss":
            first = page.locator("#evidence details").first
            assert not first.locator("div").is_visible()
            first.locator("summary").click()
            assert "Source sentence 1: Raj and Amy closed the bridge" in first.locator("div").inner_text()
            assert page.locator("#evidence td.sm-cell").count() == 4  # two sentences against two
        elif name == "boc":
            for kind, names in {"match": {"Amy", "Raj", "Penny"}, "miss": {"Lee"}, "invent": set()}.items():
                assert set(page.locator(f"#evidence .sm-text mark.sm-{kind}").all_inner_texts()) == names
            assert "missed by the recap" in evidence
        else:
            for kind, count in {"matched": 1, "missed": 1, "invented": 0}.items():
                drawn = page.locator(f"#evidence svg:not(.sm-key) line.sm-{kind}")
                assert drawn.count() == count
            assert "dashed" in evidence and "Lee and Penny left." in evidence

    def test_enter_scores_and_another_text_changes_the_score(self, name, apps, page):
        page.goto(apps[name])
        fill(page, name, prediction=REFERENCE)
        page.press("#prediction textarea", "Enter")
        assert number(page) == pytest.approx(1.0, abs=0.25 if name == "mss" else 1e-6)
        fill(page, name, prediction="Nobody came.")
        page.press("#reference textarea", "Enter")
        page.wait_for_function("parseFloat(document.querySelector('#number .sm-score').dataset.score) < 0.5")

    def test_an_arabic_example_reads_right_to_left(self, name, apps, page):
        page.goto(apps[name])
        rows = page.locator("table tbody tr", has_text=re.compile("[\u0627-\u064a]{3}"))
        rows.first.click()
        page.wait_for_function(r"/[\u0627-\u064a]{3}/.test(document.querySelector('#prediction textarea').value)")
        page.click("#score")
        assert 0 < number(page) <= 1
        assert page.eval_on_selector("#prediction textarea", "box => getComputedStyle(box).unicodeBidi") == "plaintext"
        if name != "bor":
            selector = "#evidence details summary" if name == "mss" else "#evidence .sm-text"
            assert page.eval_on_selector(selector, "text => getComputedStyle(text).direction") == "rtl"

    def test_messages_in_the_page_and_the_app_goes_on(self, name, apps, page):
        page.goto(apps[name])
        fill(page, name, prediction="  ")
        page.click("#score")
        page.wait_for_selector("#number .sm-alert")
        assert "is empty" in page.inner_text("#number") and "Traceback" not in page.content()
        fill(page, name, prediction="a" * 50_001)
        page.click("#score")
        page.wait_for_function("document.querySelector('#number').innerText.includes('50,001')")
        if name in ("boc", "bor"):
            fill(page, name)
            page.fill("#characters textarea", "Amy: A\nRaj: A")
            page.click("#score")
            page.wait_for_function("document.querySelector('#number').innerText.includes('alias of two characters')")
        fill(page, name)
        page.click("#score")
        assert number(page) > 0

    def test_file_end_to_end(self, name, apps, page, tmp_path):
        rows = [{"predictions": text, "references": [REFERENCE]} for text in (PREDICTION, REFERENCE)]
        if name in ("boc", "bor"):
            rows = [{**row, "characters": list(CHARACTERS)} for row in rows]
        file = tmp_path / "rows.jsonl.gz"
        file.write_bytes(gzip.compress("\n".join([*map(json.dumps, rows), '{"predictions": 5}']).encode()))
        open_files(page, apps[name])
        page.click("#score-file")
        page.wait_for_selector("#file-summary .sm-alert")
        assert "Choose a file" in page.inner_text("#file-summary")
        upload(page, file)
        page.click("#score-file")
        page.wait_for_selector("#file-summary .sm-score")
        metric = load(name, **options(name), **({"alignment": "hybrid"} if name == "mss" else {}))
        texts = [row["predictions"] for row in rows], [row["references"] for row in rows]
        expected = metric.score(*texts)
        mean = sum(expected[PRIMARY[name]]) / 2
        assert float(page.get_attribute("#file-summary .sm-score", "data-score")) == pytest.approx(mean, abs=1e-5)
        assert page.locator("#file-summary svg rect").count() == 10
        assert "rows.jsonl.gz, line 3: predictions is 5" in page.inner_text("#file-summary .sm-alert li")
        with page.expect_download() as download:
            page.locator("#file-download a").first.click()
        with open(download.value.path(), newline="") as saved:
            found = list(csv.DictReader(saved))
        for key, values in expected.items():
            assert [float(row[key]) for row in found] == pytest.approx(values, abs=1e-5)
        assert [row["row"] for row in found] == ["rows.jsonl.gz, line 1", "rows.jsonl.gz, line 2"]
        assert found[0]["signature"].startswith(f"{name}|version:")

    def test_phone_width(self, name, apps, page):
        page.set_viewport_size({"width": 400, "height": 800})
        page.goto(apps[name])
        fill(page, name)
        page.click("#score")
        number(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        for selector in ("#prediction textarea", "#score", "#number .sm-score"):
            box = page.locator(selector).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 400

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_contrast_is_wcag_aa(self, name, theme, apps, page):
        page.goto(f"{apps[name]}/?__theme={theme}")
        fill(page, name)
        page.click("#score")
        number(page)
        page.wait_for_timeout(600)  # Gradio fades its outputs in
        assert page.evaluate(CONTRAST) == []
        if name == "bor":
            colours_of = {  # in the light and in the dark theme
                "matched": ("rgb(0, 114, 178)", "rgb(86, 180, 233)"),
                "missed": ("rgb(179, 89, 0)", "rgb(255, 180, 84)"),
            }
            for kind, colours in colours_of.items():
                line = f"#evidence line.sm-{kind}"
                stroke = page.eval_on_selector(line, "line => getComputedStyle(line).stroke")
                assert stroke == colours[theme == "dark"]


# What all demos share is tried in one of them.


@pytest.mark.parametrize("name", ["boc"])
def test_a_wrong_file_gets_a_message(name, apps, page, tmp_path):
    file = tmp_path / "wrong.csv"
    file.write_text("summary,references\na,b\n")
    open_files(page, apps[name])
    upload(page, file)
    page.click("#score-file")
    page.wait_for_selector("#file-summary .sm-alert")
    assert "wrong.csv has no column 'predictions'" in page.inner_text("#file-summary")


@pytest.mark.parametrize("name", ["mss"])
def test_keyboard_alone(name, apps, page):
    page.goto(apps[name])
    fill(page, name)
    page.wait_for_timeout(500)  # the page has settled: a new rendering would drop the focus
    page.focus("#reference textarea")
    for _ in range(4):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "score":
            break
    assert page.evaluate("document.activeElement.id") == "score"
    page.keyboard.press("Space")
    assert 0 <= number(page) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_two_users_at_once_get_each_ones_own_result(name, apps):
    """Over the API, many calls from two clients side by side; a score must be that of its own text."""
    from gradio_client import Client

    texts = {"one": PREDICTION, "other": "Lee and Raj left."}
    metric = load(name, **options(name))
    expected = {user: metric.score([text], [REFERENCE])[PRIMARY[name]][0] for user, text in texts.items()}
    assert expected["one"] != expected["other"]
    extra = ["\n".join(CHARACTERS)] if name in ("boc", "bor") else []

    def user(who):
        client = Client(apps[name], verbose=False)
        return [client.predict(texts[who], REFERENCE, *extra, api_name="/score")[2] for _ in range(6)]

    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(texts, pool.map(user, texts), strict=True))
    for who, calls in results.items():
        for values in calls:
            scores = values.get("scores", values)  # SSS shows its one reference's parts
            assert scores[PRIMARY[name]] == pytest.approx(expected[who], abs=1e-5)
