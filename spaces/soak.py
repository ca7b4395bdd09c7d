"""Many requests to a demo on loopback, and how much memory and disk its server has after each so many (Linux).

    python spaces/soak.py boc
    python spaces/soak.py boc --requests 600

Each request is a visitor of its own with texts near their limits; every fifth also uploads a file and has it scored.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import build
import httpx

STEPS = 10  # lines of the table
SENTENCE = "Amy saw Raj near the old bridge. "
ROW = "predictions,references,characters\nAmy saw Raj.,Raj left.,Amy;Raj\n"


@contextmanager
def running(folder: Path, cache: Path) -> Iterator[tuple[int, httpx.Client]]:
    """Start the app of a built folder; yields its process and a client of its API."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    where = {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port), "GRADIO_TEMP_DIR": str(cache)}
    process = subprocess.Popen([sys.executable, "app.py"], cwd=folder, env={**os.environ, **where})
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}/gradio_api", timeout=120, trust_env=False) as client:
            for _ in range(240):
                try:
                    client.get("/info")
                    break
                except httpx.TransportError:
                    time.sleep(0.5)
            yield process.pid, client
    finally:
        process.terminate()
        process.wait(30)


def call(client: httpx.Client, function: str, data: dict) -> int:
    """Ask for something by the names of its inputs, and wait for it; the bytes of the answer."""
    asked = client.post(f"/call/v2/{function}", json=data).raise_for_status()
    answer = client.get(f"/call/{function}/{asked.json()['event_id']}").text
    if "event: complete" not in answer:
        raise RuntimeError(f"{function} is not answered: {answer[-300:]}")
    return len(answer)


def one(client: httpx.Client, number: int, inputs: list[str]) -> int:
    """One visitor's requests; no two are alike, so that nothing is stored once for all."""
    texts = [f"{kind} {number}. {SENTENCE * 1400}" for kind in ("First", "Second")]
    size = call(client, "score", dict(zip(inputs, [*texts, "Amy\nRaj"], strict=False)))
    if number % 5 == 0:
        file = ROW + f"Amy saw Raj {number} times.,Raj left.,Amy;Raj\n" * 400
        path = client.post("/upload", files={"files": ("rows.csv", file.encode())}).raise_for_status().json()[0]
        size += call(client, "score_file", {"file": {"path": path, "meta": {"_type": "gradio.FileData"}}})
    return size


def memory(process: int) -> float:
    """MB that a process has in memory."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> None:
    """Print a line after each tenth of the requests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=build.NAMES, help="the metric")
    parser.add_argument("--requests", type=int, default=300, metavar="N", help="how many visitors (300)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        cache = Path(out) / "cache"
        with running(build.build(given.name, Path(out)), cache) as (process, client):
            known = client.get("/info").json()["named_endpoints"]["/score"]["parameters"]
            inputs = [one["parameter_name"] for one in known[: 3 if given.name in ("boc", "bor") else 2]]
            print(f"{'requests':>8}  {'memory, MB':>10}  {'files, MB':>9}  {'answers, MB':>11}")
            answered = 0
            for number in range(given.requests + 1):
                if number % max(1, given.requests // STEPS) == 0:
                    files = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
                    print(f"{number:>8}  {memory(process):>10.0f}  {files / 1e6:>9.1f}  {answered / 1e6:>11.0f}")
                answered += one(client, number, inputs)


if __name__ == "__main__":
    main()
