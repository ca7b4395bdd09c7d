"""How large a report is, and how soon a browser shows it: to the first table, and to the first example.

    python benchmarks/report_page.py results/report.html

It needs Playwright and Debian's Chromium, as the browser tests do.
"""

import argparse
from pathlib import Path

from playwright.sync_api import sync_playwright

# Times since the page was asked for, noted by the browser itself as parts come into the page.
WATCH = """
    window.seen = {};
    new MutationObserver(() => {
        if (!seen.table && document.querySelector('#ranks tbody tr:last-child')) seen.table = performance.now();
        if (!seen.example && document.querySelector('#shown article')) seen.example = performance.now();
    }).observe(document, { childList: true, subtree: true });
"""


def main() -> None:
    """One line for the page, one for each time that it is opened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="an HTML file of eval_summaries --report")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser to use")
    given = parser.parse_args()
    print(f"{given.report}: {given.report.stat().st_size / 1e6:.2f} MB")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(5):
            page = browser.new_page()
            page.add_init_script(WATCH)
            page.goto(given.report.resolve().as_uri())
            page.wait_for_function("seen.table")
            seen = page.evaluate("seen")
            example = f"{seen['example']:.0f} ms" if "example" in seen else "none"
            print(f"  first table {seen['table']:.0f} ms, first example {example}")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
