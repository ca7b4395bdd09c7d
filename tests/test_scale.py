"""What keeps a run of many examples small: each compact form against the plain one that it stands for."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from conftest import examples as how_many
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_summaries import store
from eval_summaries.offsets import Offsets
from eval_summaries.rows import read_rows
from eval_summaries.score_table import Scores

sys.path.insert(0, str(ROOT / "benchmarks"))

import scale_memory

KEYS = ["k1", "k2", "k3"]
values = st.floats(allow_infinity=False)
places = st.tuples(st.sampled_from("abé"), st.sampled_from(["1", "2", "3", "\u2028"]))
puts = st.lists(st.tuples(places, st.dictionaries(st.sampled_from(KEYS), values)), max_size=12)


def plain(puts):
    """The same with dictionaries; a metric's scores come together, one metric after the other, as in a run."""
    found = {}
    for place, new in puts:
        found.setdefault(place, {}).update(new)
    return {place: {key: new[key] for key in KEYS if key in new} for place, new in found.items()}


class TestScores:
    @settings(max_examples=how_many(100))
    @given(puts, st.lists(places, max_size=5))
    def test_as_a_dictionary(self, puts, others):
        puts = [(place, {key: new[key]}) for key in KEYS for place, new in puts if key in new] or puts
        scores, expected = Scores(), plain(puts)
        for place, new in puts:
            scores.put(place, new)
        # as text, since nan is not equal to itself
        assert repr(list(scores.items())) == repr(list(expected.items())) and len(scores) == len(expected)
        assert list(scores) == list(expected) and repr(list(scores.values())) == repr(list(expected.values()))
        assert scores.score_keys == list(dict.fromkeys(key for new in expected.values() for key in new))
        taken = {place: sorted(new.items()) for place, new in Scores.of(expected).items()}
        assert repr(taken) == repr({place: sorted(new.items()) for place, new in expected.items()})
        assert scores.systems == list(dict.fromkeys(system for system, _ in expected))
        for place in others:
            assert (place in scores) == (place in expected)
            assert repr(scores.get(place)) == repr(expected.get(place))

    @settings(max_examples=how_many(100))
    @given(puts)
    def test_columns(self, puts):
        scores, expected = Scores(), plain(puts)
        for place, new in puts:
            scores.put(place, new)
        for key in [*KEYS, "none has it"]:
            column = [new.get(key, np.nan) for new in expected.values()]
            np.testing.assert_array_equal(scores.column(key), np.array(column, dtype=float))
            for system, row in zip(scores.systems, scores.table(key), strict=True):
                mine = {name: new.get(key, np.nan) for (of, name), new in expected.items() if of == system}
                np.testing.assert_array_equal(row, [mine.get(name, np.nan) for name in scores.ids])
                np.testing.assert_array_equal(scores.column(key)[scores.rows_of(system)], list(mine.values()))


json_values = st.recursive(
    st.none() | st.text(max_size=5) | st.integers() | values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=how_many(100))
@given(st.lists(json_values, max_size=4), st.lists(json_values, max_size=2))
def test_a_digest_of_items_one_by_one(items, before):
    found = store.Digest(*before)
    for item in items:
        found.add(item)
    assert found.hexdigest() == store.digest(*before, items)


def test_a_file_written_line_by_line_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "x"
    store.write_whole(path, (f"é{number}\n" for number in range(3)))

    def breaks():
        yield "new\n"
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        store.write_whole(path, breaks())
    assert path.read_text() == "é0\né1\né2\n" and list(tmp_path.iterdir()) == [path]


@settings(max_examples=how_many(100))
@given(st.lists(st.tuples(st.integers(0, 2**128 - 1) | st.integers(0, 9).map(lambda n: n << 20), st.integers(0, 9))))
def test_offsets_as_a_dictionary(pairs):
    offsets, expected = Offsets(), {}
    offsets._slots = offsets._slots[:2]  # so that it grows
    for number, offset in pairs:
        key = f"{number:032x}"
        assert offsets.get(key) == expected.get(key)
        offsets[key] = expected[key] = offset
    assert len(offsets) == len(expected) and all(offsets.get(key) == expected[key] for key in expected)
    for key in list(expected)[::2]:
        offsets.use(key)
    assert [key for key in expected if offsets.is_used(key)] == list(expected)[::2]


class TestBenchmark:
    def test_rows(self, tmp_path):
        listed = list(scale_memory.rows(50))
        assert listed == list(scale_memory.rows(50)) and listed[:9] == list(scale_memory.rows(9))
        assert len({row["summary"] for row in listed}) == 50 == len({(row["model"], row["id"]) for row in listed})
        for kind in ("jsonl", "csv", "parquet"):
            scale_memory.write(path := tmp_path / f"x.{kind}", 50)
            assert [row.values for row in read_rows(path)] == listed

    def test_peak_of_one_child(self):
        """Measured from a small process: what starts another one counts for its peak."""
        peaks = "from scale_memory import run; import sys"
        for size in (1, 300_000_000):
            peaks += f"; print(run([sys.executable, '-c', 'bytearray({size})'])[0])"
        command = [sys.executable, "-c", peaks]
        small, large = map(int, subprocess.check_output(command, cwd=ROOT / "benchmarks").split())
        assert 280e6 < large - small < 320e6
        with pytest.raises(SystemExit, match="no such thing"):
            scale_memory.run([sys.executable, "-c", "raise SystemExit('no such thing')"])
