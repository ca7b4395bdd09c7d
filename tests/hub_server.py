"""A Hugging Face Hub of one's own on loopback: folders served as repositories, over the Hub's protocol.

Models are read by transformers, Spaces by evaluate (`evaluate.load("user/metric")`), and Spaces can be created and
committed to.
"""

import base64
import hashlib
import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlparse

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def serve(repositories: dict[str, Path], uploads: dict[str, dict[str, bytes]] | None = None):
    """Serve folders under repository names such as "user/model"; yields (endpoint, list of requested paths).

    What is committed to a Space is put into ``uploads``: {repository: {path: content}}.
    """
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def reply_json(self, content: object) -> None:
            self.reply(200, json.dumps(content).encode(), Content_Type="application/json", X_Repo_Commit=COMMIT)

        def not_found(self, code: str) -> None:
            self.reply(404, b"", X_Error_Code=code, X_Error_Message="not found")

        def do_GET(self) -> None:
            path = unquote(urlparse(self.path).path)
            requests.append(path)
            resolve = re.fullmatch(r"/(?:spaces/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
            api = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(revision|tree)/[^/]+)?(?:/(.*))?", path)
            name = (resolve or api)[1] if resolve or api else None
            if name not in repositories:
                return self.not_found("RepoNotFound")
            folder = repositories[name]
            files = sorted(file for file in folder.rglob("*") if file.is_file())
            if resolve:
                if resolve[2] not in ("main", COMMIT):
                    return self.not_found("RevisionNotFound")
                file = folder / resolve[3]
                if file not in files:
                    return self.not_found("EntryNotFound")
                body = file.read_bytes()
                return self.reply(200, body, ETag=f'"{hashlib.sha256(body).hexdigest()}"', X_Repo_Commit=COMMIT)
            entries = [file.relative_to(folder).as_posix() for file in files]
            if api[2] == "tree":
                tree = [
                    {"type": "file", "path": entry, "size": (folder / entry).stat().st_size, "oid": "0"}
                    for entry in entries
                    if entry.startswith(f"{api[3]}/" if api[3] else "")
                ]
                return self.reply_json(tree) if tree else self.not_found("EntryNotFound")
            return self.reply_json(
                {
                    "id": name,
                    "modelId": name,
                    "sha": COMMIT,
                    "tags": [],
                    "siblings": [{"rfilename": e} for e in entries],
                }
            )

        do_HEAD = do_GET

        def do_POST(self) -> None:
            path = unquote(urlparse(self.path).path)
            requests.append(path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if uploads is None:
                return self.not_found("RepoNotFound")
            if path == "/api/validate-yaml":
                return self.reply_json({"warnings": [], "errors": []})
            if path == "/api/repos/create":
                wanted = json.loads(body)
                name = f"{wanted.get('organization') or 'tester'}/{wanted['name']}"
                uploads.setdefault(name, {})
                return self.reply_json({"url": f"http://{self.headers['Host']}/spaces/{name}", "name": name})
            action = re.fullmatch(r"/api/spaces/([^/]+/[^/]+)/(preupload|commit)/main", path)
            if not action:
                return self.not_found("EntryNotFound")
            if action[2] == "preupload":
                files = [
                    {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False}
                    for f in json.loads(body)["files"]
                ]
                return self.reply_json({"files": files})
            for line in body.decode().splitlines():
                entry = json.loads(line)
                if entry["key"] == "file":
                    uploads[action[1]][entry["value"]["path"]] = base64.b64decode(entry["value"]["content"])
            url = f"http://{self.headers['Host']}/spaces/{action[1]}/commit/{COMMIT}"
            return self.reply_json({"success": True, "commitOid": COMMIT, "commitUrl": url, "hookOutput": ""})

        def log_message(self, *args) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()
