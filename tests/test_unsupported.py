"""Numbers and names that the documents lack: by hand, in the digits and scripts of the world, and as evidence."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics._shared.texts import sentences, words
from metrics.mss.unsupported import known_numbers, numbers, unsupported_names, unsupported_numbers

DIGITS = ["0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "০১২৩৪৫৬৭৮৯", "０１２３４５６７８９", "๐๑๒๓๔๕๖๗๘๙"]


def values(text):
    return [number.value for number in numbers(text)]


def names(summary, document=""):
    found = unsupported_names(summary, sentences(summary), words(document))
    return None if found is None else [name.text for name in found]


class TestNumbers:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            *((text, ["1000"]) for text in ("1000", "1,000", "1.000", "1'000", "1’000", "1 000", "1\u00a0000")),
            *((text, ["1000"]) for text in ("١٠٠٠", "١٬٠٠٠", "१,०००", "１，０００", "01000", "1\u00ad000", "1000.00")),
            ("1,234,567.80", ["1234567.8"]),
            ("1.234.567,80", ["1234567.8"]),
            ("1 234 567,8", ["1234567.8"]),
            ("12,34,567 लोग", ["1234567"]),
            ("3.5 3,5 ٣٫٥ 3.50", ["3.5"] * 4),
            ("0.125 0,125", ["0.125"] * 2),
            ("-5% +5 $5 5km 5th", ["5"] * 5),
            ("10:30, 12.05.2019, 1/2", ["10", "30", "12", "5", "2019", "1", "2"]),
            ("1.2.3, 10–20", ["1", "2", "3", "10", "20"]),
            ("1,2,3 and 1,000,00", ["1", "2", "3", "1", "0", "0"]),
            ("共500人，약500명", ["500", "500"]),
            ("in 2019 300 came", ["2019", "300"]),
            ("0 00 000", ["0", "0", "0"]),
            ("\U00016d73", ["3"]),  # a digit of Unicode 16
            ("² ½ Ⅻ 三 three", []),
            ("", []),
        ],
    )
    def test_values(self, text, expected):
        assert values(text) == expected

    @given(st.integers(0, 10**12), st.sampled_from(DIGITS), st.sampled_from([",", ".", "'", " ", "٬", "_"]))
    def test_one_value_in_all_digits_with_all_separators(self, number, digits, mark):
        written = f"{number:_}".replace("_", "" if mark == "_" else mark)
        assert values(written.translate(str.maketrans(DIGITS[0], digits))) == [str(number)]

    @given(st.text(alphabet="0123 .,'٫٬१\u00ad\u2009ab-", max_size=30))
    def test_places_and_a_text_that_has_them_all(self, text):
        found = unsupported_numbers(text, frozenset())
        assert all(text[start:end] == written for written, start, end in found)
        assert all(one.end <= other.start for one, other in pairwise(found))
        assert unsupported_numbers(text, known_numbers([text])) == []

    def test_spaces_that_part_or_do_not(self):
        known = known_numbers(["On June 5 about 300 came."])
        assert unsupported_numbers("June 5 300 came.", known) == []
        assert [found.text for found in unsupported_numbers("June 5 400 came.", known)] == ["5 400"]
        assert unsupported_numbers("10\u202f000", known_numbers(["10,000"])) == []
        assert unsupported_numbers("1,000", known_numbers(["1 person"]))  # no thousand

    def test_every_mention_counts(self):
        assert [found.start for found in unsupported_numbers("7 of 7, 8 of 8", known_numbers(["8"]))] == [0, 5]

    @pytest.mark.parametrize("text", ["1" * 100_000, "1." * 40_000, "1 111" + " 111" * 20_000 + "1", "1,11" * 20_000])
    @pytest.mark.timeout(20)
    def test_long_runs_take_linear_time(self, text):
        assert unsupported_numbers(text, known_numbers([text])) == []


class TestNames:
    @pytest.mark.parametrize(
        ("summary", "document", "expected"),
        [
            ("He met Angela Merkel in Paris.", "Merkel was in Paris.", ["Angela Merkel"]),
            ("He met MERKEL.", "merkel", []),
            ("Residents fled. Turnout fell.", "", []),  # at the start of a sentence only
            ("Merkel left. Later Merkel came.", "", ["Merkel", "Later Merkel"]),
            ("NATO met. McCain left. iPhone sales fell.", "", ["NATO", "McCain", "iPhone"]),
            ("Michelle Obama spoke.", "Obama", ["Michelle Obama"]),
            ("I said I am J. K. Rowling.", "rowling", []),  # words of one letter are not looked at
            ("the Jean-Luc’s and O'Brien’s", "jean", ["Jean-Luc", "O'Brien"]),
            ("with Dr. House and U.S. President Ford", "dr president", ["Dr. House", "U.S. President Ford"]),
            ('He said: "Residents fled." It was "Titanic Two".', "", ["Titanic Two"]),
            ("THE MAYOR RESIGNED TODAY. Then Ann came.", "", ["Then Ann"]),
            ("- Ann\n- Bob went\n2. Cleo, Dora left", "", ["Dora"]),
            ("with COVID-19 and 3D in G20", "", ["COVID", "G20"]),
            ("в Санкт-Петербурге", "в Петербурге", ["Санкт-Петербурге"]),
            ("η Αθήνα, ο Ζεύς", "αθήνα", ["Ζεύς"]),
            ("with É\u0301va and El\u00adla", "ella", ["É\u0301va"]),
            ("with Ann", "", ["Ann"]),
            ("by Apple™ and ⒶAnn", "Apple™ ⒶAnn", []),
            ("and Ann  \n and Bob", "", ["Ann", "Bob"]),
            ("", "", []),
            ("123 😀!", "", []),
            ("وصل أحمد إلى باريس", "", None),
            ("राम दिल्ली गया", "", None),
            ("今天 BBC 说天气很好", "", None),
            ("თბილისი დიდი ქალაქია", "", None),
        ],
    )
    def test_by_hand(self, summary, document, expected):
        assert names(summary, document) == expected

    @given(st.lists(st.sampled_from(["Ann", "bob", "Cleo", "NATO", "it", "I", "O’Neil", ". ", "\n", ": ", "a.b", "É"])))
    def test_places_and_a_text_that_has_them_all(self, parts):
        text = " ".join(parts)
        found = unsupported_names(text, sentences(text), [])
        assert all(text[start:end] == written for written, start, end in found)
        assert all(one.end <= other.start for one, other in pairwise(found))
        assert names(text, text) == []

    def test_sentences_of_ones_own_that_are_not_in_the_text(self):
        assert [found.text for found in unsupported_names("with Ann", ["x", "", "WITH"], [])] == ["Ann"]

    @pytest.mark.timeout(20)
    def test_a_long_text(self):
        text = "Yesterday Ann met Bob in Rome. " * 1000
        assert len(unsupported_names(text, sentences(text), ["yesterday", "ann", "bob"])) == 1000


class TestExplain:
    def test_evidence_as_written(self, mss):
        summary = "By dawn 1,500 people left\u00a0 Old Kyiv, O\u00adslo said."
        found = mss.explain(summary, ["At dawn 1500 people left the old town.", "Oslo."])
        assert found["unsupported_numbers"] == []
        assert found["unsupported_names"] == [{"text": "Old Kyiv", "place": [27, 35]}]
        found = mss.explain("In 2020 it rained.", "It rained in 2021.")
        assert found["unsupported_numbers"] == [{"text": "2020", "place": [3, 7]}]
        assert mss.explain("غرق ٢٠ بيتا", "غرق بيت")["unsupported_names"] is None
        blank = mss.explain("", "It rained in 2021.")
        assert blank["unsupported_numbers"] == blank["unsupported_names"] == []
