"""Put together the folder of a Space, and publish it.

    python spaces/build.py sss --out DIR                 makes DIR/sss
    python spaces/build.py sss --out DIR --push user/sss creates the Space and uploads the folder
    python spaces/build.py sss --out DIR --push user/sss --dry-run   lists the files; touches no network

The folder holds the metric's script with its vendored files, tests.py, the app, what all apps share, the command's
reader of files, requirements.txt, and as README.md the front matter with the metric's card. It is complete:
`evaluate.load("DIR/sss")` and `python DIR/sss/app.py` both work from it without this project installed. To publish,
log in with the Hub's own tool first (`hf auth login`); no token is read from anywhere else.
"""

import argparse
import shutil
import sys
from pathlib import Path

SPACES = Path(__file__).resolve().parent
METRICS = SPACES.parent / "metrics"
COMMAND = SPACES.parent / "eval_summaries"
SHARED = ("look.py", "file_tab.py")  # by all apps
READER = ("__init__.py", "rows.py", "cells.py", "inputs.py", "each.py")  # of the command, which imports nothing else
NAMES = sorted(path.parent.name for path in SPACES.glob("*/app.py"))


def build(name: str, out: Path) -> Path:
    """Make ``out/name`` anew and return it.

    Raises:
        FileExistsError: where the folder exists and was not made by this script.
    """
    folder = out / name
    if folder.exists() and not (folder / "app.py").exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} exists and is no Space folder: choose another --out")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    own = [SPACES / name / "app.py", SPACES / name / "requirements.txt"]
    for path in [*(METRICS / name).glob("*.py"), *own, *(SPACES / shared for shared in SHARED)]:
        shutil.copy(path, folder)
    (folder / COMMAND.name).mkdir()
    for part in READER:
        shutil.copy(COMMAND / part, folder / COMMAND.name)
    card = (METRICS / name / "README.md").read_text(encoding="utf-8")
    front_matter = (SPACES / name / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(f"{front_matter.rstrip()}\n\n{card}", encoding="utf-8")
    return folder


def push(folder: Path, repository: str) -> None:
    """Create the Space where it does not exist, and upload the folder."""
    from huggingface_hub import HfApi

    api = HfApi()
    api.create_repo(repository, repo_type="space", space_sdk="gradio", exist_ok=True)
    api.upload_folder(
        folder_path=folder,
        repo_id=repository,
        repo_type="space",
        commit_message=f"Publish {folder.name}",
        ignore_patterns=["*__pycache__*"],
    )


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=NAMES, help="the metric")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to make the folder")
    parser.add_argument("--push", metavar="USER/NAME", help="publish as this Space")
    parser.add_argument("--dry-run", action="store_true", help="with --push: only list what would be uploaded")
    given = parser.parse_args(arguments)
    if given.dry_run and not given.push:
        parser.error("--dry-run goes with --push")
    if given.push and given.push.count("/") != 1:
        parser.error(f"--push {given.push}: give USER/NAME")
    try:
        folder = build(given.name, given.out)
    except OSError as error:
        sys.exit(f"error: {error}")
    print(folder)
    if given.push and given.dry_run:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            print(f"  {path.stat().st_size:>8,}  {path.relative_to(folder).as_posix()}")
    elif given.push:
        push(folder, given.push)
        print(f"published as {given.push}")


if __name__ == "__main__":
    main()
