"""Take the README's pictures of the four demos: docs/screenshots/NAME.png, light theme.

    python spaces/screenshots.py

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


def main() -> None:
    """One picture for each demo, of its first example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser to use")
    chromium = parser.parse_args().chromium
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as out, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in build.NAMES:
            with running(build.build(name, Path(out))) as address:
                page = browser.new_page(viewport={"width": 720, "height": 900})
                page.goto(f"{address}/?__theme=light")
                page.click("#score")
                page.wait_for_selector("#number .sm-score", timeout=60_000)
                page.wait_for_timeout(1000)  # Gradio fades its outputs in
                end = page.locator("#evidence").bounding_box()
                clip = {"x": 0, "y": 0, "width": 720, "height": min(1350, end["y"] + end["height"])}
                path = PICTURES / f"{name}.png"
                page.screenshot(path=path, full_page=True, clip=clip)
                page.close()
                print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")
        browser.close()


if __name__ == "__main__":
    main()
