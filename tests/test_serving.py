"""What many requests may take of a demo's server, asked of a small one on loopback that works until it is told."""

import asyncio
import importlib
import sys
from threading import Event
from types import SimpleNamespace

import httpx
import pytest
from conftest import ROOT

gr = pytest.importorskip("gradio")


@pytest.fixture(scope="module")
def serving():
    """spaces/serving.py, beside which look.py lies."""
    sys.path.insert(0, str(ROOT / "spaces"))
    try:
        yield importlib.import_module("serving")
    finally:
        sys.path.remove(str(ROOT / "spaces"))
        for name in ("serving", "look"):  # each built folder has its own
            sys.modules.pop(name, None)


@pytest.fixture
def served(serving):
    """A demo of one function, which waits: its Blocks, a client for its API, and what ends the waiting."""
    go_on = Event()
    with serving.page("waits") as demo:
        box = gr.Textbox()
        gr.Button().click(lambda text: (go_on.wait(60), text)[1], box, box, api_name="wait")
    _, address, _ = serving.launch(demo, prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
    with httpx.Client(base_url=f"{address}gradio_api", trust_env=False, timeout=60) as client:
        try:
            yield SimpleNamespace(demo=demo, client=client, go_on=go_on)
        finally:
            go_on.set()
            demo.close(verbose=False)


def ask(served, who="1.2.3.4", text="a"):
    return served.client.post("/call/wait", json={"data": [text]}, headers={"X-Forwarded-For": f"{who}, 10.0.0.1"})


def answer(served, asked):
    """The whole stream of an answer, which ends when it is there."""
    return served.client.get(f"/call/wait/{asked.json()['event_id']}").text


@pytest.mark.slow
class TestQueue:
    def test_one_visitor_has_no_more_than_a_few_requests_and_others_get_a_turn(self, serving, served):
        first = [ask(served) for _ in range(serving.OF_A_VISITOR)]
        assert {one.status_code for one in first} == {200}
        refused = ask(served)
        assert refused.status_code == 503 and "You have 3 requests here" in refused.json()["detail"]
        other = ask(served, "5.6.7.8", "other")
        assert other.status_code == 200
        served.go_on.set()
        assert '"other"' in answer(served, other)
        assert all("event: complete" in answer(served, one) for one in first)
        again = ask(served)
        assert again.status_code == 200 and "event: complete" in answer(served, again)

    def test_all_visitors_together_have_a_bound(self, serving, served):
        most = serving.WAITING + serving.AT_ONCE
        found = [ask(served, f"1.2.3.{number}") for number in range(most + 1)]
        assert found[-1].status_code == 503 and "Queue is full" in found[-1].json()["detail"]
        assert sum(one.status_code == 200 for one in found) >= serving.WAITING

    @pytest.mark.parametrize("path", ["/run/wait", "/api/wait"])
    def test_nothing_passes_by_the_queue(self, served, path):
        served.go_on.set()
        assert served.client.post(path, json={"data": ["a"]}).status_code == 404

    def test_fewer_of_a_visitor_than_at_once(self, serving):
        assert serving.OF_A_VISITOR < serving.AT_ONCE < serving.WAITING


@pytest.mark.slow
class TestSize:
    def test_a_large_request_is_refused_unread(self, serving, served):
        refused = ask(served, text="a" * serving.LIMIT_JOIN)
        assert refused.status_code == 413
        file = {"files": ("a.csv", b"a" * (serving.LIMIT_UPLOAD + 20_000))}
        assert served.client.post("/upload", files=file).status_code == 413

    def test_a_request_must_say_its_length(self, served):
        assert served.client.post("/call/wait", content=iter([b"{}"])).status_code == 411

    def test_uploads_stop_where_the_disk_would_fill(self, serving, served, monkeypatch):
        file = {"files": ("a.csv", b"predictions,references\na,b\n")}
        assert served.client.post("/upload", files=file).status_code == 200
        monkeypatch.setattr(serving, "LIMIT_DISK", 10)
        refused = served.client.post("/upload", files=file)
        assert refused.status_code == 503 and "Too many files" in refused.json()["detail"]


class TestKept:
    def test_sessions(self, serving, served, monkeypatch):
        """Each call without a session has one of its own."""
        served.go_on.set()
        assert served.demo.state_holder.capacity == serving.SESSIONS
        served.demo.state_holder.capacity = 5
        for number in range(8):
            assert "event: complete" in answer(served, ask(served, text=str(number)))
        assert len(served.demo.state_holder.session_data) == 5

    def test_answers_that_nobody_fetches(self, serving, served):
        served.go_on.set()
        boxes = served.demo._queue.pending_messages_per_session
        for name, count in (("a page that listens", 2), ("never", 500), ("seldom", 80)):
            boxes[name] = asyncio.Queue()
            for number in range(count):
                boxes[name].put_nowait(number)
        ask(served)
        assert boxes["a page that listens"].qsize() == 2 and boxes["seldom"].qsize() == 80
        assert boxes["never"].get_nowait() == 500 - (serving.UNREAD - 82)  # the newest are left

    def test_no_statistics(self, serving, served):
        served.go_on.set()
        for _ in range(3):
            answer(served, ask(served))
        queue = served.demo._queue
        assert len(queue.event_analytics) <= 1 and queue.cached_event_analytics_summary == {"functions": {}}
        assert served.client.get("/monitoring").status_code in (403, 404)
        assert served.demo.run_history is False
        assert served.demo.max_file_size == serving.LIMIT_UPLOAD  # for what passes by the Gate's look at the header
