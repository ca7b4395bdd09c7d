"""Values of --set and --config: what they mean is what the option's own check says; nonsense is status 2, by name."""

import json

import pytest
import yaml
from command import call, write, write_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_summaries.scoring import SCORERS
from eval_summaries.shared import options as checks
from eval_summaries.values import of_node, of_setting

ROW = {"p": "Amy met Raj.", "r": "Raj met Amy.", "d": "Amy met Raj. They ate. It rained.", "c": ["Amy", "Raj"]}
ALL = ["--predictions", "p", "--references", "r", "--documents", "d", "--characters", "c"]
KNOWN = {name: sorted(set().union(*scorer.options_of(name))) for name, scorer in SCORERS.items()}
HOSTILE = [
    "no",
    "yes",
    "on",
    "~",
    "null",
    ".nan",
    "-.inf",
    "1e400",
    "0x10",
    "012",
    "1:30",
    "1_000",
    "2020-01-01",
    "=",
    "@x",
    "{a:",
    "&a",
    "'no'",
    '"',
    "%",
    "-",
    "?",
    "|",
    "true",
    "1",
    "0",
    "-1",
    "2",
    "1.0",
    "0.5",
    "en",
    "ar",
    "auto",
    "cpu",
    "cuda",
    "cuda:2147483648",
    "!!python/name:os.system",
]
HOSTILE += [
    "",
    "[1, 2]",
    "[no, ~]",
    "{a: b}",
    "{a: [",
    "&a [*a]",
    "- a",
    "? a",
    "| x",
    "9" * 5000,
    "\x00",
    "\ud800",
    "x" * 9000,
]


class TestMeaning:
    @pytest.mark.parametrize(
        ("text", "check", "value"),
        [
            ("no", checks.language_code, "no"),
            ("no", checks.flag, False),
            ("Off", checks.flag, False),
            ("true", checks.flag, True),
            ("3", checks.whole_number(1), 3),
            ("0.5", checks.share, 0.5),
            ("1e-3", checks.share, 0.001),
            ("null", checks.share, None),
            ("", checks.share, None),
            ("null", checks.one_of(None, "null"), None),
            ("'null'", checks.one_of(None, "null"), "null"),
            ("2020-01-01", checks.one_of("2020-01-01"), "2020-01-01"),
            ("1", checks.one_of("1"), "1"),
        ],
    )
    def test_what_the_check_takes(self, text, check, value):
        for meant in (of_setting(text), of_node(yaml.compose(f"x: {text}", Loader=yaml.BaseLoader).value[0][1])):
            assert meant.accepted_by(check, "option") == value

    def test_nan_is_a_number(self):
        from metrics._shared.overlap import check_zero_division

        for text in (".nan", "nan", ".NaN"):
            assert of_setting(text).accepted_by(check_zero_division, "zero_division") != 0
        with pytest.raises(ValueError, match=r"zero_division=inf"):
            of_setting(".inf").accepted_by(check_zero_division, "zero_division")

    def test_lists_of_characters(self, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [{key: ROW[key] for key in "pr"}])
        for value in ("[Amy, Raj]", "{Amy: ~, Raj: [R.]}", '["Amy", "Raj"]'):
            status, shown = call(data, *ALL[:4], "--metrics", "boc", "--set", f"boc.characters={value}")
            assert status == 0 and "boc_f1 │ 1.000" in shown
        data = write_rows(tmp_path / "x.jsonl", [{"p": "No met On.", "r": "On met No."}])
        status, shown = call(data, *ALL[:4], "--metrics", "bor", "--set", "bor.characters=[No, On]")
        assert status == 0 and "bor_f1 │ 1.000" in shown

    def test_options_where_they_have_no_effect(self, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [ROW])
        status, shown = call(data, *ALL, "--metrics", "sss", "--set", "mss.doc_chunk_size=3")
        assert status == 2 and "mss is not among --metrics sss" in shown
        status, shown = call(data, *ALL[:4], "--set", "mss.doc_chunk_size=3")
        assert status == 2 and "options of mss are set, and the input does not allow it" in shown
        status, shown = call(data, *ALL, "--metrics", "sss", "--set", "sss.use_stemmer=true", "--set", "sss.lang=ar")
        assert status == 2 and "use_stemmer=True is for English only" in shown

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("c.yaml", "rouge: 3", "write a section for each metric"),
            ("c.yaml", "- rouge", "write a section for each metric"),
            ("c.yaml", "rouge: {use_stemmer: true}\nrouge: {}", "stands there twice"),
            ("c.yaml", "rouge: {use_stemmer: true, use_stemmer: false}", "stands there twice"),
            ("c.yaml", "rogue: {}", "unknown metric 'rogue': did you mean 'rouge'?"),
            ("c.yaml", "a: [", "--config"),
            ("c.toml", "a = [", "--config"),
            ("c.toml", "[bleu]\nlowercase = 1", "bleu.lowercase=1: give True or False"),
            ("c.yaml", b"\xff", "is not utf-8"),
        ],
    )
    def test_a_configuration_that_cannot_be_used(self, name, content, said, tmp_path):
        status, shown = call(tmp_path / "nowhere.csv", "--config", write(tmp_path / name, content))
        assert status == 2 and said in shown

    def test_an_empty_configuration_is_none(self, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [ROW])
        for content in ("", "# nothing", "rouge:\n", "rouge: {}"):
            config = write(tmp_path / "c.yaml", content)
            assert call(data, *ALL, "--metrics", "rouge", "--config", config, "--out", tmp_path / "out")[0] == 0
        assert json.loads((tmp_path / "out" / "run.json").read_text())["options"] == {"rouge": {}}


@pytest.mark.slow
@pytest.mark.parametrize("metric", SCORERS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_gives_a_result_or_names_its_option(metric, tmp_path, data):
    option = data.draw(st.sampled_from(KNOWN[metric]))
    value = data.draw(st.sampled_from(HOSTILE) | st.text(max_size=8) | st.integers().map(str) | st.floats().map(str))
    path = write_rows(tmp_path / "x.jsonl", [ROW, {**ROW, "p": "Raj slept."}])
    needed = ALL[:6] if f"{metric}.{option}" in ("boc.characters", "bor.characters") else ALL
    if data.draw(st.booleans()):
        given_by = ["--set", f"{metric}.{option}={value}"]
    else:
        content = f"{metric}:\n  {option}: {value}\n".encode("utf-8", "replace")
        given_by = ["--config", write(tmp_path / "c.yaml", content)]
    status, shown = call(path, *needed, "--metrics", metric, *given_by)
    assert status in (0, 1, 2) and "Traceback" not in shown
    if metric == "bertscore" and "cannot load its model" in shown:  # which is on the Hub, say
        assert f"bertscore.{option}=" in shown
    elif status == 2 and "c.yaml: " not in shown:  # what is no YAML is refused as a whole
        assert option in shown
