"""Run the quick tests with the lowest versions that setup.cfg allows: python tests/floors.py [pytest's arguments].

A new virtual environment outside the checkout gets each `>=X` of setup.cfg as `==X`, of install_requires and of the
extra `test`; what else is needed it shares with the environment that runs this script. So does torch, in the version
of constraints.txt: old ones are built for CUDA, gigabytes each, and not for each Python.
"""

import configparser
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUICK = ["-m", "not slow and not install and not thorough"]


def ranges() -> list[str]:
    """What install_requires says."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    return setup["options"]["install_requires"].split()


def floors() -> list[str]:
    """Requirements for pip: the lowest version of each range, an exact version as it is; not torch."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lines = [*ranges(), *setup["options.extras_require"]["test"].splitlines()]
    found = {re.sub(r">=([\w.]+)(,<[\w.]+)?", r"==\1", line) for line in lines if line}
    return sorted(line for line in found if not line.startswith("torch=="))


def make(folder: Path) -> Path:
    """Make the virtual environment there and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    Path(own, "shared.pth").write_text(sysconfig.get_path("purelib"))  # found after its own packages
    subprocess.run([python, "-m", "pip", "install", "-q", *floors()], check=True)
    return python


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="summary-metrics-floors-") as folder:
        print(*floors(), sep="\n", flush=True)
        command = [make(Path(folder) / "venv"), "-m", "pytest", "-q", *(arguments or QUICK)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
