"""Run the quick tests with the lowest versions that setup.cfg allows: python tests/floors.py [pytest's arguments].

A new virtual environment outside the checkout gets each `>=X` of setup.cfg as `==X`, in install_requires and the extra
`test`. torch alone comes in the version of constraints.txt: old ones are built for CUDA, gigabytes each, not for each
Python. What these packages need themselves pip chooses. The Python is the one that runs this script.
"""

import configparser
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUICK = ["-m", "not slow and not install and not thorough"]


def floors() -> list[str]:
    """Requirements for pip: the lowest version of each range, an exact version as it is."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lines = setup["options"]["install_requires"].splitlines() + setup["options.extras_require"]["test"].splitlines()
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    torch = next(pin for pin in pins if pin.startswith("torch=="))
    found = [re.sub(r">=([\w.]+)(,<[\w.]+)?", r"==\1", line) for line in lines if line]
    return sorted({torch if line.startswith("torch==") else line for line in found})


def install(folder: Path, requirements: list[str]) -> Path:
    """Make a virtual environment there and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", *requirements], check=True)
    return python


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="summary-metrics-floors-") as folder:
        requirements = floors()
        print(*requirements, sep="\n", flush=True)
        python = install(Path(folder) / "venv", requirements)
        command = [python, "-m", "pytest", "-q", *(arguments or QUICK)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
