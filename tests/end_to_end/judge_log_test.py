"""`dlcheck judge` of logs that other tools wrote, whole and damaged."""

import json
import pathlib
import shutil
import unittest

from support import SOURCE, EndToEnd

LOGS = SOURCE / "tests" / "logs"
SPIKE = "training_loop/loss_spike"


class JudgeLog(EndToEnd):
    def judge(self, path, code, *words):
        process = self.dlcheck("judge", path, *words)
        self.assertEqual(process.returncode, code, process.stderr)
        return process.stderr

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


class Whole(JudgeLog):
    def test_numbers_of_each_tool_are_read(self):
        kinds = {"tensorboard": ("event file of TensorBoard, 140 numbers", 70),
                 "tensorboard_tensors": ("event file of TensorBoard, 30 numbers", 30),
                 "wandb": ("offline run of W&B, 120 numbers", 40),
                 "mlflow": ("run of MLflow, 50 numbers", 25),
                 "lightning": ("table of numbers (CSV), 60 numbers", 24),
                 "transformers": ("trainer_state.json of transformers, 150 numbers", 30)}  # fmt: skip
        for name, (words, steps) in kinds.items():
            with self.subTest(name):
                text = self.judge(LOGS / name, 0)
                self.assertIn(words, text)
                self.assertIn(f"judged {steps} of {steps} steps", text)

    def test_a_jump_of_the_loss_is_found_in_a_log(self):
        self.assertIn("In step 50 the loss jumped from", self.judge(LOGS / "tensorboard", 0))
        self.judge(LOGS / "tensorboard", 1, "--fail-on", "warning")

    def test_a_page_shows_the_curves(self):
        page = self.folder / "page.html"
        self.judge(LOGS / "lightning", 0, "--report", f"html={page}")
        text = page.read_text()
        self.assertIn("Loss of the evaluations", text)
        self.assertIn("val_loss", text)

    def test_json_lines_may_be_nested_and_hold_what_json_has_no_words_for(self):
        lines = [json.dumps({"step": step, "train": {"loss": 1 / (1 + step)}}) for step in range(30)]
        lines.append('{"step": 30, "train": {"loss": NaN}}')
        text = self.judge(self.write("log.jsonl", "\n".join(lines) + "\n"), 0)
        self.assertIn("train/loss) at step 30", text)

    def test_a_restarted_run_keeps_its_later_numbers(self):
        rows = [(step, 100.0) for step in range(40)] + [(step, 1.0) for step in range(10, 60)]
        table = "step,loss\n" + "".join(f"{step},{loss}\n" for step, loss in rows)
        text = self.judge(self.write("log.csv", table), 0)
        self.assertIn("its steps go back from 39 to 10: a restarted run", text)
        self.assertIn("100 at first, 1 at last", text)
        self.assertIn("judged 60 of 60 steps", text)


class Damaged(JudgeLog):
    def test_logs_that_are_cut_off_are_read_up_to_there(self):
        for name, pattern, words in (("tensorboard", "*tfevents*", "it is cut off after record"),
                                     ("wandb", "*.wandb", "it is cut off in its last record"),
                                     ("lightning", "*.csv", "its last line has no end")):  # fmt: skip
            with self.subTest(name):
                content = next((LOGS / name).glob(pattern)).read_bytes()
                self.assertIn(words, self.judge(self.write(f"cut-{name}", content[: len(content) * 2 // 3 - 3]), 0))

    def test_a_byte_changed_anywhere_ends_with_a_line_and_never_with_a_signal(self):
        for name in ("tensorboard", "wandb", "transformers"):
            content = next(path for path in (LOGS / name).iterdir()).read_bytes()
            for place in range(0, len(content), len(content) // 12):
                with self.subTest(name=name, place=place):
                    broken = content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]
                    process = self.dlcheck("judge", self.write("broken", broken))
                    self.assertIn(process.returncode, (0, 2, 5), process.stderr)
                    self.assertTrue(process.stderr)

    def test_what_is_no_log_is_refused_with_its_name(self):
        for name, content in (("noise", bytes(range(256)) * 40), ("empty", b""), ("words", "a,b\nc,d\n"),
                              ("state", '{"log_history": [{"loss": 1')):  # fmt: skip
            with self.subTest(name):
                path = self.write(name, content)
                text = self.judge(path, 2)
                self.assertEqual(text.count("\n"), 1)
                self.assertIn(f"'{path}'", text)

    def test_a_gigabyte_is_refused_before_it_is_read(self):
        path = self.write("big.csv", "step,loss\n")
        with path.open("r+b") as file:
            file.truncate(1 << 30)
        self.assertIn("is a log of 1024 MiB; dlcheck reads at most 256 MiB", self.judge(path, 2))

    def test_a_folder_without_logs_or_with_several_is_refused(self):
        self.assertIn("holds no runs of dlcheck, and no metrics.csv", self.judge(self.folder, 2))
        shutil.copytree(LOGS / "lightning", self.folder / "both")
        shutil.copy(LOGS / "transformers/trainer_state.json", self.folder / "both")
        self.assertIn("holds several logs, name one of them", self.judge(self.folder / "both", 2))

    def test_hostile_names_are_shown_as_text(self):
        lines = ['{"step": %d, "loss</script>\\u001b[31m": 1.0}\n' % step for step in range(30)]
        page = self.folder / "page.html"
        text = self.judge(self.write("log.jsonl", "".join(lines)), 0, "--report", f"html={page}")
        self.assertNotIn("\x1b", text)
        self.assertNotIn("loss</script>", page.read_text())

    def test_a_log_without_a_loss_is_told_what_it_has(self):
        self.assertIn("names no training loss, but accuracy and val_loss",
                      self.judge(self.write("log.csv", "step,accuracy,val_loss\n1,0.5,2\n2,0.6,1\n"), 2))  # fmt: skip

    def test_deep_objects_are_no_harm(self):
        path = pathlib.Path(self.write("deep.jsonl", '{"a":' * 200_000 + "1" + "}" * 200_000))
        self.judge(path, 2)


if __name__ == "__main__":
    unittest.main()
