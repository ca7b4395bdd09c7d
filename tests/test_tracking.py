"""Weights & Biases: the real package, without its service."""

import subprocess

import pytest
from command import COLUMNS
from conftest import ROOT


@pytest.mark.install
def test_a_project_is_checked_first_and_each_system_is_a_run(python, environment, data, tmp_path):
    packages = tmp_path / "packages"
    install = [python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", "--target", packages, "wandb"]
    subprocess.run(install, check=True, timeout=250)
    environment = {**environment, "HOME": str(tmp_path), "NETRC": str(tmp_path / "none")}
    # after the installed packages: numpy and the like are theirs
    (tmp_path / "late.py").write_text(
        f"import sys; sys.path.append({str(packages)!r})\nfrom eval_summaries.cli import app\napp()"
    )

    def run(project, mode):
        command = [python, tmp_path / "late.py", data, *COLUMNS, "--metrics", "rouge", "--wandb", project]
        found = subprocess.run(
            list(map(str, command)),
            cwd=tmp_path,
            env={**environment, "WANDB_MODE": mode, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return found.returncode, found.stdout, found.stderr

    status, shown, errors = run("a/b", "offline")
    assert status == 2 and "a/b" in errors and "Scores" not in shown  # before anything is scored
    status, shown, errors = run("ours", "online")
    assert status == 2 and "wandb login" in errors and "Scores" not in shown
    status, shown, errors = run("ours", "offline")
    assert status == 0 and "rouge1" in shown, errors
    assert len(list((tmp_path / "wandb").glob("offline-run-*"))) == 2
