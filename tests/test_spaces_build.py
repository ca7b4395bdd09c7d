"""What spaces/build.py never does: remove what it did not make, or say a token; and what it publishes."""

import json
import subprocess
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
from conftest import ROOT
from hub_server import serve
from test_spaces import content

from spaces import build


class TestBuild:
    @pytest.mark.parametrize("file", ["thesis.txt", "app.py"])
    def test_a_foreign_folder_is_not_removed(self, tmp_path, file):
        (tmp_path / "boc").mkdir()
        (tmp_path / "boc" / file).write_text("years of work")
        with pytest.raises(SystemExit, match="choose another --out"):
            build.main(["boc", "--out", str(tmp_path)])
        assert (tmp_path / "boc" / file).read_text() == "years of work"

    @pytest.mark.parametrize("file", ["notes.txt", "app.py", "eval_summaries/mine/notes.txt"])
    def test_what_was_added_or_changed_since_is_not_removed(self, tmp_path, file):
        path = build.build("boc", tmp_path) / file
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        with pytest.raises(SystemExit, match=f"{file} changed since"):
            build.main(["boc", "--out", str(tmp_path)])
        assert path.read_text() == "mine"

    def test_a_link_is_neither_replaced_nor_followed(self, tmp_path):
        other = build.build("boc", tmp_path / "elsewhere")
        (tmp_path / "boc").symlink_to(other)
        with pytest.raises(SystemExit, match="choose another --out"):
            build.main(["boc", "--out", str(tmp_path)])
        assert (tmp_path / "boc").is_symlink() and (other / "app.py").exists()

    @pytest.mark.parametrize("out", ["spaces", "metrics", ".", "tests/new", "build/../spaces"])
    def test_not_among_the_sources(self, out, monkeypatch, tmp_path):
        monkeypatch.setattr(build, "ROOT", tmp_path)
        before = build.content(tmp_path)
        with pytest.raises(SystemExit, match="among the sources"):
            build.main(["boc", "--out", str(tmp_path / out)])
        assert build.content(tmp_path) == before == {}
        build.main(["boc", "--out", str(tmp_path / "build" / "spaces")])

    def test_the_repository_is_not_replaced_though_it_has_the_name(self, monkeypatch, tmp_path):
        monkeypatch.setattr(build, "ROOT", tmp_path / "boc")
        for out in (tmp_path, tmp_path / "boc" / "sub" / ".." / ".."):
            with pytest.raises(ValueError, match="among the sources"):
                build.build("boc", out)

    @pytest.mark.parametrize("moment", ["filling", "swapping"])
    def test_a_failure_in_the_middle_leaves_the_old_folder_whole(self, moment, monkeypatch, tmp_path):
        folder = build.build("boc", tmp_path)
        before = content(folder)
        rename = Path.rename

        def fails(path, *rest):
            if path.name == {"filling": "rows.py", "swapping": "new"}[moment]:
                raise OSError("no space left on device")
            return rename(path, *rest) if moment == "swapping" else None

        target, name = (build.shutil, "copy") if moment == "filling" else (Path, "rename")
        monkeypatch.setattr(target, name, fails)
        with pytest.raises(SystemExit, match="no space left"):
            build.main(["boc", "--out", str(tmp_path)])
        assert content(folder) == before and [path.name for path in tmp_path.iterdir()] == ["boc"]

    def test_dry_run_lists_files_and_touches_no_network(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(build, "push", None)
        build.main(["boc", "--out", str(tmp_path), "--push", "user/boc", "--dry-run"])
        listed = {
            line.split()[-1]: int(line.split()[0].replace(",", "")) for line in capsys.readouterr().out.splitlines()[1:]
        }
        assert listed == {path: len(raw) for path, raw in content(tmp_path / "boc").items()}

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--dry-run"],
            *(["--push", name] for name in ("", "boc", "/", "a/", "/b", "a/b/c", "a b/c", "a/b c", "a/b\n")),
        ],
    )
    def test_bad_arguments(self, tmp_path, arguments, capsys):
        with pytest.raises(SystemExit) as ended:
            build.main(["boc", "--out", str(tmp_path), *arguments])
        assert ended.value.code == 2 and "--push" in capsys.readouterr().err and not any(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("status", "words"), [(None, "cannot be reached"), (401, "log in"), (403, "may not write"), (500, "later")]
    )
    def test_a_failure_to_publish_is_one_line_whatever_the_library_says(self, status, words, tmp_path, monkeypatch):
        class Failed(ConnectionError):
            response = None if status is None else SimpleNamespace(status_code=status)

        def create_repo(*_, **__):
            raise Failed("Unauthorized\nAuthorization: Bearer hf_secret\n" * 30)

        monkeypatch.setattr("huggingface_hub.HfApi.create_repo", create_repo)
        with pytest.raises(SystemExit, match=words) as ended:
            build.main(["boc", "--out", str(tmp_path), "--push", "a/b"])
        assert ended.value.code.startswith("error: a/b is not published: ")
        assert "\n" not in ended.value.code and "hf_" not in ended.value.code


@pytest.mark.slow
@pytest.mark.thorough
class TestHub:
    def test_push_uploads_exactly_the_listed_files(self, tmp_path, python, environment):
        uploads = {}
        with serve({}, uploads) as (endpoint, _):
            home = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"}
            home |= {"HF_TOKEN": "hf_test", "HF_HUB_DISABLE_XET": "1"}
            done = subprocess.run(
                [python, "spaces/build.py", "boc", "--out", str(tmp_path), "--push", "tester/boc"],
                cwd=ROOT,
                env={**environment, **home},
                capture_output=True,
                text=True,
                timeout=240,
            )
        assert done.returncode == 0, done.stderr
        assert "published as tester/boc" in done.stdout
        assert uploads == {"tester/boc": content(tmp_path / "boc")}

    @pytest.mark.parametrize(
        ("status", "token", "words"),
        [
            (401, "hf_secret", "log in"),
            (403, "hf_secret", "may not write"),
            (503, "hf_secret", "status 503"),
            (None, "hf_secret", "cannot be reached"),
            (403, "hf_secret\u00e9", "in the Hub's library"),  # no header may have it
            ("offline", "hf_secret", "HF_HUB_OFFLINE"),
        ],
    )
    def test_a_push_that_fails_is_one_line(self, status, token, words, tmp_path, python, environment):
        with refusing(status) as endpoint:
            home = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "home"), "HF_TOKEN": token}
            home["HF_HUB_OFFLINE"] = "1" if status == "offline" else "0"
            done = subprocess.run(
                [python, "spaces/build.py", "boc", "--out", str(tmp_path / "out"), "--push", "tester/boc"],
                cwd=ROOT,
                env={**environment, **home},
                capture_output=True,
                text=True,
                timeout=240,
            )
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith("error: tester/boc is not published") and words in done.stderr
        assert "hf_secret" not in done.stderr + done.stdout


@contextmanager
def refusing(status):
    """A Hub that answers everything with a status, and says the caller's headers; none where it is no number."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.dumps({"error": f"refused\n{self.headers}"}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Error-Message", f"refused {self.headers['Authorization']}")
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_HEAD = do_POST

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        endpoint = f"http://127.0.0.1:{server.server_port}"
        if isinstance(status, int):
            Thread(target=server.serve_forever, daemon=True).start()
        else:
            server.server_close()
        yield endpoint
        if isinstance(status, int):
            server.shutdown()
