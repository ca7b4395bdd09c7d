"""Take the README's pictures of the demos and of the report: docs/screenshots/NAME.png, light theme.

    python spaces/screenshots.py
    python spaces/screenshots.py --ranking results/report.html

It needs Playwright and Debian's Chromium, as the browser tests do.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import build
from playwright.sync_api import sync_playwright

PICTURES = build.SPACES.parent / "docs" / "screenshots"


@contextmanager
def running(folder: Path):
    """Start the app of a built folder; yields its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port)}
    process = subprocess.Popen([sys.executable, "app.py"], cwd=folder, env={**os.environ, **settings})
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(address, timeout=5)
                break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def picture_of_report(browser, folder: Path) -> None:
    """The report of the README's first command: ranking, and an example with its evidence."""
    harbour = build.ROOT / "examples" / "harbour"
    sides = [f"--summaries={harbour / name}" for name in ("careful", "hasty")]
    given = [f"--documents={harbour / 'documents'}", f"--references={harbour / 'references'}"]
    given += [f"--characters={harbour / 'characters.txt'}", "--metrics=sss,mss,boc,bor", f"--out={folder}"]
    command = [sys.executable, "-m", "eval_summaries", *sides, *given]
    subprocess.run(command, check=True, cwd=build.ROOT, stdout=subprocess.DEVNULL)
    address = f"{(folder / 'report.html').as_uri()}#example=lighthouse&one=careful&other=hasty&score=boc_f1"
    picture_of_page(browser, address, "report.png", ["#distributions", "#two", "#made", "nav", "#theme"])


def picture_of_page(browser, address: str, name: str, without: list[str]) -> None:
    """A report's page without some of its parts."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.goto(address)
    for part in without:
        page.locator(part).evaluate("part => { part.hidden = true }")
    path = PICTURES / name
    page.screenshot(path=path, full_page=True)
    page.close()
    print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")


def main() -> None:
    """One picture for each demo, of its first example, and one of the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser to use")
    parser.add_argument("--ranking", type=Path, metavar="HTML", help="only this report's ranking, which has no texts")
    given = parser.parse_args()
    chromium = given.chromium
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as out, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        if given.ranking:
            parts = ["#distributions", "#two", "#examples", "#made", "nav", "#theme"]
            picture_of_page(browser, given.ranking.resolve().as_uri(), "ranking.png", parts)
            return
        picture_of_report(browser, Path(out) / "results")
        for name in build.NAMES:
            with running(build.build(name, Path(out))) as address:
                page = browser.new_page(viewport={"width": 1200, "height": 900})
                page.goto(f"{address}/?__theme=light")
                page.click("#score")
                page.wait_for_selector("#number .sm-score", timeout=60_000)
                page.wait_for_timeout(1000)  # Gradio fades its outputs in
                end = page.locator("#evidence").bounding_box()
                clip = {"x": 0, "y": 0, "width": 1200, "height": min(1350, end["y"] + end["height"])}
                path = PICTURES / f"{name}.png"
                page.screenshot(path=path, full_page=True, clip=clip)
                page.close()
                print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")
        browser.close()


if __name__ == "__main__":
    main()
