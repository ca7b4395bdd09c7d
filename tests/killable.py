"""Run the command in a forked child for each line of stdin: forty runs need not import torch forty times.

A line is the arguments as JSON. The child's number is printed, then, when it has ended, its exit status (-9: killed).
"""

import json
import os
import sys

import pandas  # noqa: F401
import scipy.stats  # noqa: F401
import sentence_transformers  # noqa: F401
import sklearn.decomposition  # noqa: F401
from conftest import ROOT

sys.path.insert(0, str(ROOT))
from eval_summaries import scoring
from eval_summaries.cli import app

scoring.CHUNK = 16  # so that many a kill finds something that is not written yet

for line in sys.stdin:
    child = os.fork()
    if not child:
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        status = 1
        try:
            app(json.loads(line))
        except SystemExit as end:
            status = end.code or 0
        finally:
            os._exit(status)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
