"""Names in text: a plain oracle, invariants, and the cases that trip matchers up, in many scripts."""

import unicodedata

import pytest
import regex
from conftest import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from metrics._shared import texts
from metrics._shared.characters import (
    _STARTS_UNSPACED,
    CharacterList,
    check_characters,
    names_by_sentence,
    pairs,
    per_example,
)
from metrics._shared.texts import sentences

# letters that make names, parts of names and longer words around them
ALPHABETS = {
    "Latin": "abAB' -.é_1",
    "Arabic": "علي و.سَ،",
    "Devanagari": "रमाी् क।",
    "Han": "王明李 。a",
    "combining": "e\u0301o\u0308n ",
}


def plain(names, text, ignore_case=False):
    """The oracle: at each place the longest alias with free borders, and on from its end. For NFC text only."""
    fold = (lambda s: s.casefold()) if ignore_case else (lambda s: s)
    aliases = sorted(
        ((fold(alias), name) for name, aliases in names.items() for alias in aliases), key=lambda a: -len(a[0])
    )
    text, found, at = fold(text), [], 0
    word = regex.compile(r"[\p{L}\p{M}\p{N}_]")
    unspaced = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]")
    while at < len(text):
        for alias, name in aliases:
            end = at + len(alias)
            if not text.startswith(alias, at):
                continue
            if at and word.match(text[at - 1]) and not unspaced.match(alias[0]):
                continue
            if end < len(text) and word.match(text[end]) and not unspaced.match(alias[-1]):
                continue
            found.append((at, end, name))
            at = end - 1
            break
        at += 1
    return found


def names_of(characters, text, **options):
    return [mention.name for mention in CharacterList(characters, **options).mentions(text)]


@pytest.mark.parametrize("script", ALPHABETS)
@settings(max_examples=examples(150))
@given(data=st.data())
def test_equals_the_plain_oracle(script, data):
    letters = st.sampled_from(ALPHABETS[script])
    name = st.text(letters, min_size=1, max_size=4).filter(lambda s: s == " ".join(s.split()) != "")
    aliases = data.draw(
        st.lists(name.map(lambda s: unicodedata.normalize("NFC", s)), min_size=1, max_size=5, unique=True)
    )
    # runs of white space have their own test below
    text = regex.sub(" +", " ", unicodedata.normalize("NFC", data.draw(st.text(letters, max_size=40))))
    ignore_case = data.draw(st.booleans())
    if ignore_case:
        assume(len({alias.casefold() for alias in aliases}) == len(aliases))
    found = CharacterList(aliases, ignore_case).mentions(text)
    assert [tuple(mention) for mention in found] == plain({a: [a] for a in aliases}, text, ignore_case)


@settings(max_examples=examples(300))
@given(data=st.data())
def test_decomposed_text_has_the_same_mentions_at_the_same_letters(data):
    letters = st.sampled_from("éaoü한국 ñ.José")
    text = data.draw(st.text(letters, max_size=30))
    names = ["José", "é", "한국", "üa", "ño"]
    composed = CharacterList(names).mentions(unicodedata.normalize("NFC", text))
    decomposed_text = unicodedata.normalize("NFD", text)
    decomposed = CharacterList([unicodedata.normalize("NFD", name) for name in names]).mentions(decomposed_text)
    assert [unicodedata.normalize("NFC", m.name) for m in decomposed] == [m.name for m in composed]
    for one, other in zip(composed, decomposed, strict=True):
        place = unicodedata.normalize("NFC", decomposed_text[other.start : other.end])
        assert place == unicodedata.normalize("NFC", text)[one.start : one.end]


FORMAT = ["\u00ad", "\u200b", "\u2060", "\u200c", "\u200d", "\u200e", "\u200f", "\ufeff", "\u2066"]
SPACES = [" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u2009", "\u3000", " \u200b\n", "\u2028"]


@settings(max_examples=examples(300))
@given(data=st.data(), ignore_case=st.booleans())
def test_what_nobody_sees_changes_no_mention(data, ignore_case):
    """Format characters anywhere, any white space for a space, any hyphen and apostrophe: the same names, at places
    of the text as given that read the same. (flashtext#131, languagetool#6264, wink-nlp#133)"""
    names = ["Gregory House", "Jean-Luc", "O'Brien", "José", "علي رضا", "王明", "Straße"]
    plain_text = "".join(data.draw(st.lists(st.sampled_from([*names, " ", ".", "x", "é", "明"]), max_size=12)))
    plain_text = regex.sub(" +", " ", plain_text)
    dirty, origin = "", []
    for place, letter in enumerate(plain_text):
        choices = {" ": SPACES, "-": list("-‐‑–—−"), "'": list("'’‘`´ʼ′")}.get(letter, [letter])
        piece = data.draw(st.sampled_from(["", *FORMAT])) + data.draw(st.sampled_from(choices))
        dirty, origin = dirty + piece, origin + [place] * len(piece)
    expected = CharacterList(names, ignore_case).mentions(plain_text)
    dirty_names = [name.replace(" ", data.draw(st.sampled_from(SPACES))) + "\n" for name in names]
    found = CharacterList(dirty_names, ignore_case).mentions(dirty)
    assert [texts.without_format(m.name).split() for m in found] == [m.name.split() for m in expected]
    for one, other in zip(found, expected, strict=True):
        assert (origin[one.start], origin[one.end - 1]) == (other.start, other.end - 1)
        assert dirty[one.start] not in FORMAT and dirty[one.end - 1] not in FORMAT


@given(st.text(st.sampled_from("abcé' "), max_size=40), st.permutations(["a", "ab", "é", "c'a", "b c"]))
def test_order_of_names_does_not_matter_and_an_absent_name_changes_nothing(text, names):
    expected = CharacterList(["a", "ab", "é", "c'a", "b c"]).mentions(text)
    assert CharacterList(names).mentions(text) == expected
    assert CharacterList([*names, "Nobody"]).mentions(text) == expected


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.booleans())
def test_any_text_gives_ordered_places_without_overlap(text, ignore_case):
    end = 0
    for mention in CharacterList(["a", "e\u0301", "ss", "王", "ﬁ"], ignore_case).mentions(text):
        assert end <= mention.start < mention.end <= len(text)
        end = mention.end


def test_marks_of_borders_in_a_text_are_letters_like_others():
    """They are of private use, and a text may have them."""
    assert names_of(["Amy"], "\ue000Amy\ue001 \ue001Amy") == ["Amy", "Amy"]
    assert names_of(["\ue000x"], "a \ue000x") == ["\ue000x"]


@pytest.mark.parametrize(
    ("names", "text", "count"),
    [
        (["a" * k for k in range(1, 101)], "a" * 200_000, 0),  # one long word
        (["a" * k for k in range(1, 101)], "a" * 100 + " " + "a" * 99, 2),
        (["王" * k for k in range(1, 101)], "王" * 200_000, 2000),
        ([" ".join("a" * k) for k in range(1, 101)], "a " * 100_000, 1000),
        (["a", " ".join("a" * 100) + " x"], "a " * 20_000, 20_000),  # looks far ahead each time
        (["a"], "a" + "\u0301\u0323" * 50_000, 0),  # marks whose order is looked for
    ],
)
def test_names_within_names_are_found_without_listing_them_all(names, text, count):
    assert len(CharacterList(names).mentions(text)) == count


class TestBorders:
    @pytest.mark.parametrize(
        ("names", "text", "expected"),
        [
            (["Al", "Ann", "Anna"], "Also, Anna met Al.", ["Anna", "Al"]),
            (["Ann"], "Anna, xAnn, Ann2, Ann_b, Ann\u0301", []),
            (["Leonard", "Penny"], "Leonard's mother hates Penny’s food.", ["Leonard", "Penny"]),
            (["Anna", "Anna Lee"], "Anna Leeson", ["Anna"]),  # the longest alias is part of a longer word here
            (["Jean-Luc", "Luc"], "Jean-Luc and Luc", ["Jean-Luc", "Luc"]),
            (["O'Brien"], "O’Brien and O'Brien", ["O'Brien", "O'Brien"]),
            (["O’Brien"], "O'Brien", ["O’Brien"]),
            (["J. R."], "J. R. and J.\nR.", ["J. R.", "J. R."]),  # a line break is a space
            (["سامي", "علي"], "سامي وعلي في المدرسة.", ["سامي"]),  # a glued conjunction is part of the word
            (["علي"], "\u200fعلي\u200e، (علي)", ["علي", "علي"]),  # right-to-left marks are no letters
            (["राम", "सीता"], "राम और सीता, रामायण", ["राम", "सीता"]),
            (["राम"], "रामा", []),  # a vowel sign makes another word
            (["王明", "李华"], "王明和李华去了王明家", ["王明", "李华", "王明"]),
            (["花子"], "花子さんと花子", ["花子", "花子"]),
            (["Amy"], "🎉Amy🎉", ["Amy"]),
            (["ENTITY90", "ENTITY9"], "ENTITY90 saw ENTITY9.", ["ENTITY90", "ENTITY9"]),
            (["Will", "Hope"], "I hope she will come, says Hope.", ["Hope"]),
            (["Will"], "Will Amy come?", ["Will"]),  # a known limit: a verb at the start of a sentence
            (["Amy"], "", []),
            (["Amy\n", " Raj"], "Amy, Raj", ["Amy", "Raj"]),  # flashtext#146
            (["Amy", " Raj"], "Amy, Raj", ["Amy", "Raj"]),
            (["Gregory House"], "Gregory\r\nHouse, Gregory  House, Gregory\u3000House", ["Gregory House"] * 3),
            (["Jean-Luc", "O‘Brien", "Penny`s"], "Jean‑Luc, O'Brien, Penny’s", ["Jean-Luc", "O‘Brien", "Penny`s"]),
            (["بي‌بي"], "بيبي", ["بي‌بي"]),  # a zero-width non-joiner does not make another name
            (["O'Brien", "O’Brien"], "O'Brien", ["O'Brien"]),  # one character, given in two spellings
            (["Amy"], "A\u00admy\u200bx Amy\u200f", ["Amy"]),  # what is passed over is no border either
        ],
    )
    def test_cases(self, names, text, expected):
        assert names_of(names, text) == expected

    def test_alias_given_for_the_glued_conjunction(self):
        assert names_of({"علي": ["وعلي"]}, "سامي وعلي") == ["علي"]

    def test_ignore_case_folds_fully(self):
        assert names_of(["Strauß", "İnci"], "STRAUSS und strauß, İNCI", ignore_case=True) == [
            "Strauß",
            "Strauß",
            "İnci",
        ]
        (mention,) = CharacterList(["Amy"], ignore_case=True).mentions("Straße AMY")  # ß grows when folded
        assert (mention.start, mention.end) == (7, 10)

    def test_unspaced_scripts_are_those_of_the_words(self):
        """One word for each character, in texts.py; names between letters, here."""
        for code in (
            *range(0x250),
            *range(0xE00, 0x1100),
            *range(0x1780, 0x1800),
            *range(0x3040, 0x3100),
            0x4E00,
            0x9FA5,
        ):
            character = chr(code)
            if regex.match(r"\p{L}", character) and unicodedata.normalize("NFKC", character) == character:
                single = len(texts.words(character * 2, fold_arabic=False)) == 2
                assert single == bool(_STARTS_UNSPACED.match(character)), hex(code)


class TestList:
    @pytest.mark.parametrize(
        ("characters", "error", "words"),
        [
            (["Amy", ""], ValueError, ["empty"]),
            (["Amy", "\u200b\u00ad"], ValueError, ["empty"]),
            ({"Amy": [" "]}, ValueError, ["'Amy'", "empty"]),
            ({"House": "Dr. House"}, TypeError, ["{'House': ['Dr. House']}"]),
            ({"House": ["Greg"], "Wilson": ["Greg"]}, ValueError, ["'Greg'", "'House'", "'Wilson'"]),
            ({"Amy": [], "Amy Farrah": ["Amy"]}, ValueError, ["'Amy'", "'Amy Farrah'"]),
            (["Amy", None], TypeError, ["None"]),
            (["Amy", 3], TypeError, ["int (3)"]),
            (["Amy", "x\ud800"], ValueError, ["surrogate"]),
        ],
    )
    def test_errors(self, characters, error, words):
        with pytest.raises(error) as caught:
            CharacterList(characters)
        for word in ["characters", *words]:
            assert word in str(caught.value)

    def test_two_characters_equal_only_without_case(self):
        CharacterList(["Will", "will"])
        with pytest.raises(ValueError, match=r"case ignored.*'Will' and 'will'"):
            CharacterList(["Will", "will"], ignore_case=True)

    def test_composed_and_decomposed_alias_of_two_characters(self):
        with pytest.raises(ValueError, match="alias of two characters"):
            CharacterList({"A": ["Jose\u0301"], "B": ["José"]})

    def test_missing_aliases_are_none(self):
        """datasets#7617: a table gives every row the keys of all rows."""
        listed = {"Amy": None, "Raj": ["R.", None], "Lee": float("nan")}
        assert CharacterList(listed).names == {"Amy": ["Amy"], "Raj": ["Raj", "R."], "Lee": ["Lee"]}

    def test_repeated_names_and_aliases_are_harmless(self):
        assert names_of({"Amy": ["Amy", "Amy", "Dr. Amy"]}, "Dr. Amy") == ["Amy"]
        assert names_of(["Amy", "Amy"], "Amy") == ["Amy"]

    def test_fingerprint_ignores_order_and_tells_content(self):
        one = CharacterList({"A": ["a", "b"], "B": []}).fingerprint
        assert one == CharacterList({"B": [], "A": ["b", "a", "A"]}).fingerprint
        assert one != CharacterList({"A": ["a"], "B": ["b"]}).fingerprint

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            ("Amy", ["'Amy'", "'auto'"]),
            ([], ["empty", "characters="]),
            (["Amy", ["Raj"]], ["mixes names and lists", "entry 1"]),
            ([["Amy"], {"Raj": "R"}], ["row 1"]),
            ([["Amy"], [3]], ["row 1", "int (3)"]),
            (5, ["int"]),
            ([1, 2], ["int (1)"]),
        ],
    )
    def test_option_errors(self, value, words):
        with pytest.raises((TypeError, ValueError)) as caught:
            check_characters("characters", value)
        for word in words:
            assert word in str(caught.value)

    def test_lists_per_example(self):
        found = per_example([["Amy"], {"Raj": ["R."]}, ["Amy"]], ["a"] * 3, [["b"]] * 3, False)
        assert [list(one.names) for one in found] == [["Amy"], ["Raj"], ["Amy"]] and found[0] is found[2]
        with pytest.raises(ValueError, match="characters has 2 lists and there are 3 examples"):
            per_example([["Amy"], ["Raj"]], ["a"] * 3, [["b"]] * 3, False)

    def test_a_function(self):
        found = per_example(str.split, ["Amy Raj", "Bob"], [["Raj", "Penny"], ["Bob"]], False)
        assert [list(one.names) for one in found] == [["Amy", "Penny", "Raj"], ["Bob"]]
        with pytest.raises(TypeError, match="the function gave 'one string' for row 0"):
            per_example(lambda text: "one string", ["a"], [["b"]], False)

    def test_nothing_given_shows_the_three_ways(self):
        with pytest.raises(ValueError) as caught:
            per_example(None, ["a"], [["b"]], False)
        for way in ('["Sheldon", "Amy"]', '{"House": ["Dr. House"', '"auto"'):
            assert way in str(caught.value)


class TestSentences:
    def split(self, text, names):
        found = CharacterList(names).mentions(text)
        return [(s, [m.name for m in here]) for s, here in names_by_sentence(text, found, sentences)]

    @pytest.mark.parametrize(
        ("names", "text", "expected"),
        [
            (["Dr. House", "Amy"], "Dr. House met Amy. He left.", [(["Dr. House", "Amy"]), []]),
            (["Insp. Gu", "St. Cloud"], "Insp. Gu saw St. Cloud. Then he left.", [["Insp. Gu", "St. Cloud"], []]),
            (["J. R.", "Sue"], "J. R. saw Sue. Sue slept.", [["J. R.", "Sue"], ["Sue"]]),
            (["Yahoo! Joe", "Amy"], "Amy hates Yahoo! Joe. Amy left.", [["Amy", "Yahoo! Joe"], ["Amy"]]),
            (["王明", "李华"], "王明来了。李华走了！王明和李华。", [["王明"], ["李华"], ["王明", "李华"]]),
            (["راج", "إيمي"], "جاء راج. ذهبت إيمي؟ راج وحده.", [["راج"], ["إيمي"], ["راج"]]),
            (["Amy", "Raj"], "- Amy\n- Raj\n", [["Amy"], ["Raj"]]),
            (["Amy"], "\ua762 and Amy and \ua763.", [["Amy"]]),  # the masks themselves in the text
        ],
    )
    def test_no_dot_of_a_name_ends_a_sentence(self, names, text, expected):
        assert [here for _, here in self.split(text, names)] == expected

    @settings(max_examples=examples(150))
    @given(
        st.lists(st.sampled_from(["Amy", "Raj", "saw", "“", "”", ".", "?", ". She", "\n", "left", "'s"]), max_size=25)
    )
    def test_masking_plain_names_changes_no_sentence(self, parts):
        text = " ".join(parts)
        found = self.split(text, ["Amy", "Raj"])
        assert [sentence for sentence, _ in found] == sentences(text)
        for sentence, here in found:
            assert here == names_of(["Amy", "Raj"], sentence)

    def test_a_long_text_without_ends_keeps_every_mention(self):
        text = "王明和李华一起走" * 900
        found = self.split(text, ["王明", "李华"])
        assert sum(len(here) for _, here in found) == 1800
        assert all(names_of(["王明", "李华"], sentence) == here for sentence, here in found)


def test_pairs():
    assert pairs(["b", "a", "c", "a"]) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert pairs(["a", "a"]) == set() == pairs([])
