"""How a demo is served to strangers: what thousands of visitors may take of memory, disk, queue and time is bounded.

What one request may hold is limited in look.py and file_tab.py; here it is what many requests may.
"""

import os
from collections.abc import Iterator
from typing import Any

import gradio as gr
import look
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

# Gradio keeps the last inputs and outputs of each session, up to 1 MB here; a page works on after its session is gone.
SESSIONS = 50
KEPT_FILES = (300, 1800)  # seconds: how often uploads and results are looked at, how old they get
AT_ONCE = 4  # requests that are worked on, of each kind
WAITING = 32  # requests that wait for that, of each kind and all visitors together
OF_A_VISITOR = 3  # requests of one address, at work or waiting: fewer than AT_ONCE, so that others get a turn
UNREAD = 100  # messages that nobody fetches: Gradio keeps them
LIMIT_JOIN = 5_000_000  # bytes of a request to score: two texts and a list at their limits, as JSON escapes them
LIMIT_UPLOAD = 20_000_000  # bytes of an upload
LIMIT_DISK = 1_000_000_000  # bytes of all uploads and results

# Gradio makes statistics of its last 10,000 events after each event, for a page that is closed here.
os.environ.update(GRADIO_ANALYTICS_MAX_EVENTS="1", GRADIO_ANALYTICS_CACHE_FREQUENCY=str(10**12))


def page(title: str) -> gr.Blocks:
    """The Blocks of a demo."""
    return gr.Blocks(title=title, analytics_enabled=False, delete_cache=KEPT_FILES)


def settings(demo: gr.Blocks) -> dict[str, Any]:
    """What the server of a demo is started with, its queue apart."""
    return {
        "theme": look.THEME,
        "css": look.CSS,
        "footer_links": [],
        "max_file_size": LIMIT_UPLOAD,
        "state_session_capacity": SESSIONS,
        "run_history": False,
        "enable_monitoring": False,
        "mcp_server": False,
        "ssr_mode": False,
        "share": False,
        "app_kwargs": {"middleware": [Middleware(Gate, demo=demo)]},
    }


def launch(demo: gr.Blocks, **others: Any) -> Any:
    """Start the app without analytics or fonts from elsewhere; nothing passes by its queue."""
    demo.queue(max_size=WAITING, default_concurrency_limit=AT_ONCE, api_open=False)
    return demo.launch(**settings(demo), **others)


class Gate:
    """Refuses a request that is too large, a visitor who has too many of them, and uploads on a full disk.

    Gradio's ``max_size`` counts all visitors together, so that one could fill the queue for all. There is no public way
    to ask the queue who waits in it: its attributes are read in the functions below, which tests hold to this version.
    """

    def __init__(self, app: Any, demo: gr.Blocks) -> None:
        self.app, self.demo = app, demo

    async def __call__(self, scope: dict, receive: Any, send: Any) -> None:
        """ASGI."""
        refused = self.refusal(scope) if scope["type"] == "http" and scope["method"] == "POST" else None
        if refused:
            status, why = refused
            return await JSONResponse({"detail": f"{why} (or use the library)"}, status)(scope, receive, send)
        return await self.app(scope, receive, send)

    def refusal(self, scope: dict) -> tuple[int, str] | None:
        """Status and reason, before anything of the request's body is read."""
        upload = scope["path"].rstrip("/").endswith("/upload")
        length = dict(scope["headers"]).get(b"content-length", b"")
        if not length.isdigit():
            return 411, "The length of the request is missing"
        # what surrounds a file in its form is allowed for
        if int(length) > (LIMIT_UPLOAD + 10_000 if upload else LIMIT_JOIN):
            return 413, "The request is too large for this demo"
        if upload:
            full = size(self.demo.GRADIO_CACHE) + int(length) > LIMIT_DISK
            return (503, "Too many files are here at the moment: try again in half an hour") if full else None
        if "/queue/join" in scope["path"] or "/call/" in scope["path"]:
            forget_unread(self.demo)
            if sum(address(one) == address(scope) for one in requests(self.demo)) >= OF_A_VISITOR:
                return 503, f"You have {OF_A_VISITOR} requests here: wait for one of them"
        return None


def address(scope: dict) -> str:
    """Whose a request is. A Space is behind a proxy, which says so; who forges that is still bound by the queue."""
    told = dict(scope["headers"]).get(b"x-forwarded-for", b"").decode("latin-1").split(",")[0].strip()
    return told or (scope["client"] or ("",))[0]


def size(folder: str) -> int:
    """Bytes of all files in a folder; one that is deleted meanwhile has none."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.path.getsize(os.path.join(parent, name))
            except OSError:
                continue
    return total


def requests(demo: gr.Blocks) -> Iterator[dict]:
    """The ASGI scopes of the requests that wait or are worked on."""
    queue = demo._queue
    for part in queue.event_queue_per_concurrency_id.values():
        yield from (event.request.scope for event in part.queue)
    for job in queue.active_jobs:
        yield from (event.request.scope for event in job or [])


def forget_unread(demo: gr.Blocks) -> None:
    """Drop messages that nobody fetches, where most lie first: a page that listens has none or a few."""
    boxes = sorted(demo._queue.pending_messages_per_session.values(), key=lambda box: -box.qsize())
    unread = sum(box.qsize() for box in boxes)
    for box in boxes:
        while unread > UNREAD and not box.empty():
            box.get_nowait()
            unread -= 1
