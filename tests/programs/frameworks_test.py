"""Two programs of frameworks, watched: one is healthy, in the other a callback clears the gradients."""

import json
import pathlib
import tempfile
import unittest

import check_faults
import check_frameworks
import check_healthy
from watching import FOLDER, PYTHON, SOURCE

TOKENS = """
import torch, transformers
from tokenizers import Tokenizer, models, pre_tokenizers
words = "[PAD] [UNK] the cat sat on a".split()
table = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
table.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=table, pad_token="[PAD]", unk_token="[UNK]")
batch = tokenizer(["the cat sat", "a cat sat on"], return_tensors="pt", padding=True)
labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
    vocab_size=len(words), n_positions=8, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(4):
    optimizer.zero_grad()
    model(**batch, labels=labels).loss.backward()
    optimizer.step()
"""
FRAMEWORKS = SOURCE / "build-frameworks/bin/python"


@unittest.skipUnless(FRAMEWORKS.exists(), "ci/frameworks was not run: no environment with frameworks")
class Frameworks(unittest.TestCase):
    def setUp(self):
        for module in (check_faults, check_frameworks):
            module.PYTHON = FRAMEWORKS
            self.addCleanup(setattr, module, "PYTHON", PYTHON)

    def test_a_healthy_program_is_quiet(self):
        _, problems, result = check_frameworks.run_healthy("Lightning", "lightning_digits")
        self.assertEqual(problems, [])
        self.assertGreater(result["exit"]["counts"]["passed"], 40)

    def test_numbers_that_the_program_logs_are_in_the_series(self):
        with tempfile.TemporaryDirectory() as folder:
            check_healthy.judged([FRAMEWORKS, "-W", "ignore", FOLDER / "frameworks/lightning_digits.py"], folder)
            drawn = json.loads(pathlib.Path(folder, "out/series.json").read_text())["series"]
        metrics = {series["thing"]: series["samples"] for series in drawn if series["quantity"] == "metric"}
        self.assertEqual(metrics, {"loss": 300, "accuracy": 26, "validation_loss": 26})

    def test_tokens_are_kept_with_the_text_of_the_tokenizer(self):
        with tempfile.TemporaryDirectory() as folder:
            words = [FRAMEWORKS, "-W", "ignore", "-c", TOKENS]
            problems, _ = check_healthy.judged(words, folder, ("--samples", "2"))
            (file,) = pathlib.Path(folder).glob("out/runs/*/samples-*.jsonl")
            kept = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual(problems, [])
        texts = [row["texts"] for row in kept if "texts" in row]
        self.assertEqual(texts, [["the cat sat [PAD]", "a cat sat on"]])

    def test_a_callback_that_clears_gradients_is_found(self):
        self.assertIsNone(check_faults.run("trainer_callback_clears", "trainer_tagger"))


if __name__ == "__main__":
    unittest.main()
