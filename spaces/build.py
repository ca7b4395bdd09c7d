"""Put together the folder of a Space, and publish it.

    python spaces/build.py sss --out DIR                 makes DIR/sss
    python spaces/build.py sss --out DIR --push user/sss creates the Space and uploads the folder
    python spaces/build.py sss --out DIR --push user/sss --dry-run   lists the files; touches no network

The folder holds the metric's script with its vendored files, tests.py, the app, what all apps share, the command's
reader of files, requirements.txt, and as README.md the front matter with the metric's card. It is complete:
`evaluate.load("DIR/sss")` and `python DIR/sss/app.py` both work from it without this project installed. To publish,
log in with the Hub's own tool first (`hf auth login`); no token is read from anywhere else.

A folder is replaced only where everything in it is as this script made it, and none is made among the sources.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

SPACES = Path(__file__).resolve().parent
ROOT = SPACES.parent
METRICS = ROOT / "metrics"
COMMAND = ROOT / "eval_summaries"
MARKER = ".made-by-build"  # what was made, so that nothing else is ever replaced; it is not published
SHARED = ("look.py", "file_tab.py", "serving.py")  # by all apps
READER = (
    "__init__.py",
    "table.py",
    "typed.py",
    "rows.py",
    "cells.py",
    "examples.py",
    "inputs.py",
    "each.py",
    "pieces.py",
    "marks.css",
)  # of the command, which imports nothing else
NAMES = sorted(path.parent.name for path in SPACES.glob("*/app.py"))


def content(folder: Path) -> dict[str, str]:
    """Every file of a folder, but for the marker and Python's caches, with its digest."""
    paths = (path for path in sorted(folder.rglob("*")) if not path.is_dir() or path.is_symlink())
    kept = (path for path in paths if path.name != MARKER and "__pycache__" not in path.parts)
    # a link is not followed: where it leads to is no part of the folder
    raw = ((path, b"" if path.is_symlink() else path.read_bytes()) for path in kept)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(found).hexdigest() for path, found in raw}


def check_replaceable(folder: Path) -> None:
    """FileExistsError for a folder with anything in it that this script did not make."""
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise FileExistsError(f"{folder} exists and is no folder: choose another --out")
    if not any(folder.iterdir()):
        return
    try:
        made = json.loads((folder / MARKER).read_text(encoding="utf-8"))["made"]
    except (OSError, ValueError, KeyError, TypeError):
        raise FileExistsError(f"{folder} was not made by this script: choose another --out, or remove it") from None
    found = content(folder)
    changed = sorted(name for name in found if made.get(name) != found[name])
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise FileExistsError(
            f"{folder}: {', '.join(changed[:3])}{more} changed since it was made: keep or remove them"
        )


def check_place(folder: Path) -> None:
    """ValueError for a folder among the sources: in the repository only build/ and dist/ are for what is made."""
    place = folder.resolve()
    inside = ROOT in place.parents and place.relative_to(ROOT).parts[0] not in ("build", "dist")
    if inside or place == ROOT or place in ROOT.parents:
        raise ValueError(f"{folder} is among the sources: choose another --out, such as build/spaces")


def build(name: str, out: Path) -> Path:
    """Make ``out/name`` anew and return it: beside the old one, which is replaced when the new one is whole.

    Raises:
        FileExistsError: where the folder has what was not made by this script.
        ValueError: where it would lie among the sources.
    """
    folder = out / name
    check_place(folder)
    check_replaceable(folder)
    out.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=out))
    new, old = work / "new", work / "old"
    try:
        fill(name, new)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    finally:
        if old.exists() and not folder.exists():  # stopped between the two
            old.rename(folder)
        shutil.rmtree(work, ignore_errors=True)
    return folder


def fill(name: str, folder: Path) -> None:
    """Make a Space's folder where there is none."""
    folder.mkdir()
    own = [SPACES / name / "app.py", SPACES / name / "requirements.txt"]
    for path in [*(METRICS / name).glob("*.py"), *own, *(SPACES / shared for shared in SHARED)]:
        shutil.copy(path, folder)
    (folder / COMMAND.name).mkdir()
    for part in READER:
        shutil.copy(COMMAND / part, folder / COMMAND.name)
    card = (METRICS / name / "README.md").read_text(encoding="utf-8")
    front_matter = (SPACES / name / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(f"{front_matter.rstrip()}\n\n{card}", encoding="utf-8")
    (folder / MARKER).write_text(json.dumps({"made": content(folder)}, indent=1), encoding="utf-8")


class NotPublished(Exception):
    """Why a Space was not published, in one line without a token."""


def push(folder: Path, repository: str) -> None:
    """Create the Space where it does not exist, and upload the folder.

    Raises:
        NotPublished: whatever goes wrong. The library's own message is not passed on: it may be long, or have the
            headers of the request in it, with the token.
    """
    try:
        from huggingface_hub import HfApi

        api = HfApi()
        api.create_repo(repository, repo_type="space", space_sdk="gradio", exist_ok=True)
        api.upload_folder(
            folder_path=folder,
            repo_id=repository,
            repo_type="space",
            commit_message=f"Publish {folder.name}",
            ignore_patterns=["*__pycache__*", MARKER],
        )
    except Exception as error:  # of the library, of its HTTP client, of the system
        raise NotPublished(f"{repository} is not published: {why(error)}") from None


def why(error: Exception) -> str:
    """What a failure of the Hub's library means, by its status or its kind."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if status == 401 or "LocalTokenNotFoundError" in kinds:
        return "the Hub does not know you: log in with `hf auth login`"
    if status == 403:
        return "your account or token may not write there"
    if status and status >= 500:
        return f"the Hub has a failure of its own (status {status}): try again later"
    if status:
        return f"the Hub refuses it (status {status})"
    if "OfflineModeIsEnabled" in kinds:
        return "HF_HUB_OFFLINE is set"
    if kinds & {"ConnectError", "ConnectTimeout", "TransportError", "ConnectionError", "TimeoutError"}:
        return f"the Hub cannot be reached ({type(error).__name__})"
    return f"{type(error).__name__} in the Hub's library"


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=NAMES, help="the metric")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to make the folder")
    parser.add_argument("--push", metavar="USER/NAME", help="publish as this Space")
    parser.add_argument("--dry-run", action="store_true", help="with --push: only list what would be uploaded")
    given = parser.parse_args(arguments)
    if given.dry_run and given.push is None:
        parser.error("--dry-run goes with --push")
    if given.push is not None and not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", given.push, re.ASCII):
        parser.error(f"--push {given.push!r}: give USER/NAME")
    try:
        folder = build(given.name, given.out)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(folder)
    if given.push and given.dry_run:
        for path in content(folder):
            print(f"  {(folder / path).stat().st_size:>8,}  {path}")
    elif given.push:
        try:
            push(folder, given.push)
        except NotPublished as error:
            sys.exit(f"error: {error}")
        print(f"published as {given.push}")


if __name__ == "__main__":
    main()
