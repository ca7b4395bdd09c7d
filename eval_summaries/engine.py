"""The scoring step on Ray: batches of examples go to actors that hold the metric, scores come back when ready."""

import logging
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .each import parts, score_each
from .inputs import Example
from .scoring import SCORERS, Result, Scorer, needed
from .table import UnusableError

if TYPE_CHECKING:
    import pyarrow

PATIENCE = 60  # seconds for an address to answer as Ray: ray.init itself waits minutes, and then may end the process
BATCH_ROWS, BATCH_LETTERS = 256, 2**20  # examples and letters in a batch, at most: a kill loses little
RESTARTS = 3  # of processes that died, for each metric; of itself Ray starts one again without limit
_KEPT = "with --out what was scored is kept"
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",  # no telemetry from a Ray that is started here
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",  # a worker without GPUs sees none
    "RAY_BACKEND_LOG_LEVEL": "fatal",  # else an error that is none, at each start of actors
}
_TRY = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='ERROR'); ray.shutdown()"


class Engine:
    """A connection to Ray, for the length of a ``with``; what it started is stopped at its end.

    A Ray that this process has already initialised is used as it is, and left running.

    Args:
        address: "local" starts Ray on this machine, "auto" finds the cluster that this machine is a node of, HOST:PORT
            names its head.
        workers: actors at a time; None for as many as there is room for.
        gpus: of each actor, also a part of one (0.5).

    Raises:
        UnusableError: where nothing answers there, or the cluster has no room for the workers.
    """

    def __init__(self, address: str, workers: int | None, gpus: float):
        for name, value in _SETTINGS.items():  # before the import, which reads some
            os.environ.setdefault(name, value)
        import ray
        import ray.data

        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.ERROR)
        self._ray, self._gpus, self._is_own = ray, gpus, not ray.is_initialized()
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        if self._is_own and address == "local":
            cores = max(workers or 0, os.cpu_count() or 1)
            ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)
        elif self._is_own:
            _check(address)
            ray.init(address=address, **quiet)
        try:
            self.workers = self._count(workers)
        except UnusableError:
            self.__exit__()
            raise

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_own:
            self._ray.shutdown()

    def _count(self, asked: int | None) -> int:
        """How many actors there will be; Ray would wait for ever for room that it does not have."""
        has = self._ray.cluster_resources()
        cores, gpus = int(has.get("CPU", 0)), has.get("GPU", 0)
        room = min(cores, int(gpus / self._gpus)) if self._gpus else cores
        if room < (asked or 1):
            each = f"a core and {self._gpus:g} GPUs each" if self._gpus else "a core each"
            raise UnusableError(
                f"--ray: no room for {asked or 1} workers with {each}: it has {cores} cores, {gpus:g} GPUs"
            )
        return asked or room

    @staticmethod
    def takes(scorer: Scorer) -> bool:
        """Whether it can be scored elsewhere: bert-score with idf cannot, whose counts are inside its loaded model."""
        return not (scorer.name == "bertscore" and scorer.given.get("idf"))

    def score(
        self, scorer: Scorer, examples: Iterable[tuple[int, Example]], count: int
    ) -> Iterator[list[tuple[int, Result]]]:
        """Score examples by a scorer that has started.

        Args:
            examples: with the numbers by which their results are known.
            count: of the examples.

        Yields:
            Batches of (number, scores or why there are none), in any order.
        """
        import pyarrow
        import ray.data

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = context.print_on_execution_start = False
        batches = _cut(examples, needed(scorer.name), max(1, min(BATCH_ROWS, count // (4 * self.workers))))
        blocks = [ray.put(pyarrow.table({"batch": [pickle.dumps(batch)]})) for batch in batches]
        if not blocks:
            return
        # what was learned from all examples goes along, rather than the examples
        learned = ray.cloudpickle.dumps(scorer) if scorer.name == "stats" else None
        size = min(self.workers, len(blocks))
        starts = ray.remote(num_cpus=0)(Starts).remote(size + RESTARTS)
        allowed = lambda: ray.get(starts.allow.remote())  # noqa: E731 - asked by the workers
        scored = ray.data.from_arrow_refs(blocks).map_batches(
            Worker,
            fn_constructor_args=(scorer.name, scorer.given, scorer.signature, learned, allowed),
            batch_size=None,  # a block is a batch
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=size),
            num_cpus=1,
            num_gpus=self._gpus or None,
        )
        try:
            for block in scored.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                for results in map(pickle.loads, block["results"].to_pylist()):
                    if isinstance(results, UnusableError):
                        raise results
                    yield results
        except UnusableError:
            raise
        except Exception as error:  # any: of Ray, of the network, of a worker that cannot start
            reason = str(error).strip().splitlines()[-1].strip()[:500]
            raise UnusableError(f"--ray: {type(error).__name__}: {reason}; {_KEPT}") from None


class Starts:
    """An actor that counts how often a worker has been started."""

    def __init__(self, most: int):
        self.left = most

    def allow(self) -> bool:
        """Whether there may be one more."""
        self.left -= 1
        return self.left >= 0


class Worker:
    """The actor: holds the scorer, made from its name and options as here, and checked to be the same one."""

    def __init__(
        self, name: str, options: dict[str, Any], signature: str, learned: bytes | None, allowed: Callable[[], bool]
    ):
        self.refused: UnusableError | None = None  # raised here it would come wrapped in several of Ray's own
        try:
            if not allowed():
                raise ValueError(f"processes that compute {name} died {RESTARTS + 1} times (is there enough memory?)")
            self.scorer = SCORERS[name](name, options)
            self.scorer.start([])
            theirs, ours = (
                {fact for fact in one.split("|") if not fact.startswith("topics_from:")}
                for one in (self.scorer.signature, signature)
            )
            if theirs != ours:
                raise ValueError(
                    f"{name} would give other scores ({', '.join(sorted(theirs - ours))} there, "
                    f"{', '.join(sorted(ours - theirs))} here): install the same versions and models"
                )
            self.scorer = pickle.loads(learned) if learned else self.scorer
        except Exception as error:  # any: models and libraries of all kinds are loaded
            self.refused = UnusableError(f"--ray: on {socket.gethostname()}: {error}; {_KEPT}")

    def __call__(self, block: "pyarrow.Table") -> "pyarrow.Table":
        import pyarrow

        results = [self._score(pickle.loads(batch)) for batch in block["batch"].to_pylist()]
        return pyarrow.table({"results": [pickle.dumps(found) for found in results]})

    def _score(self, batch: list[tuple[int, Example]]) -> list[tuple[int, Result]] | UnusableError:
        if self.refused:
            return self.refused
        found = score_each(self.scorer.score, [e for _, e in batch], Example.origin)
        return [(number, result) for (number, _), result in zip(batch, found, strict=True)]


def _cut(
    examples: Iterable[tuple[int, Example]], fields: tuple[str, ...], most: int
) -> Iterator[list[tuple[int, Example]]]:
    """Batches of at most so many examples, which carry only what their scores depend on."""
    unused = {field: None for field in ("references", "documents", "characters") if field not in fields}
    bare = ((number, replace(example, ratings={}, **unused)) for number, example in examples)
    return parts(bare, lambda one: one[1].size(), BATCH_LETTERS, most)


def _check(address: str) -> None:
    """``UnusableError`` where an address does not answer as Ray."""
    told = "give local, auto, or the HOST:PORT of a running cluster's head (ray start --head), from one of its nodes"
    if "://" in address:
        raise UnusableError(f"--ray {address}: {told}")
    if address != "auto":
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        except (OSError, ValueError, OverflowError) as error:
            raise UnusableError(f"--ray {address} does not answer ({error}): {told}") from None
    try:
        tried = subprocess.run([sys.executable, "-c", _TRY, address], capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise UnusableError(f"--ray {address} does not answer as Ray within {PATIENCE} seconds: {told}") from None
    if tried.returncode:
        reason = (tried.stderr.strip() or f"status {tried.returncode}").splitlines()[-1]
        raise UnusableError(f"--ray {address}: {reason}: {told}")
