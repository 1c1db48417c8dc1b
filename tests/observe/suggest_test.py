"""What `dlcheck suggest` prints for a result: the change that mends a finding, and a reason where there is none."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "checks/observe/python"

# By check: a program, the line of the finding, its message, and the program as it should be.
MENDED = {
    "optimizer/stale_gradients": (
        "for x in data:\n    loss = net(x)\n    loss.backward()\n    opt.step()\n    lr.step()\nlr = StepLR(opt)\n", 3, "",
        "for x in data:\n    loss = net(x)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n    lr.step()\nlr = StepLR(opt)\n"),
    "training_loop/retained_graph": (
        "loss.backward(retain_graph=True, inputs=w)\n", 1, "", "loss.backward(inputs=w)\n"),
    "gradients/clipped_after_step": (
        "if full:\n    scaler.step(opt)\n    clip(\n        w)\n", 3, "", "if full:\n    clip(\n        w)\n    scaler.step(opt)\n"),
    "training_loop/step_before_backward": (
        "opt.step()\nloss.backward()\nprint()\n", 1, "", "loss.backward()\nopt.step()\nprint()\n"),
    "schedule/stepped_before_optimizer": (
        "lr = CosineAnnealingLR(opt)\nlr.step()\nopt.step()\n", 2, "", "lr = CosineAnnealingLR(opt)\nopt.step()\nlr.step()\n"),
    "model/double_softmax": (
        "p = torch.softmax(net(x), 1)\nloss = F.cross_entropy(p, y)\n", 2, "", "p = net(x)\nloss = F.cross_entropy(p, y)\n"),
    "precision/clip_before_unscale": (
        "clip(w)\nself.scaler.step(self.opt)\n", 1, "", "self.scaler.unscale_(self.opt)\nclip(w)\nself.scaler.step(self.opt)\n"),
    "evaluation/in_train_mode": (
        "def test(net):\n    with no_grad():\n        for x in data:\n            net(x)\nnet.train()\n", 4, "",
        "def test(net):\n    net.eval()\n    with no_grad():\n        for x in data:\n            net(x)\n    net.train()\nnet.train()\n"),
    "training_loop/unscaled_accumulation": (
        "loss.backward()\n", 1, "In all 7 accumulation windows of 4 micro-batches, it is not divided.", "(loss / 4).backward()\n"),
    "data/unshuffled": (
        "a = DataLoader(rows, 8, num_workers=2)\nfor i, x in enumerate(a):\n    pass\n", 1, "",
        "a = DataLoader(rows, 8, num_workers=2, shuffle=True)\nfor i, x in enumerate(a):\n    pass\n"),
    "program/method_not_called": ("self.opt.zero_grad\n", 1, "", "self.opt.zero_grad()\n"),
    "program/discarded_result": ("scores.masked_fill(m, 0)\n", 1, "", "scores = scores.masked_fill(m, 0)\n"),
    "attention/finite_mask": (
        "def forward(self, s):\n    return s.masked_fill(self.m, -10).softmax(1)\n", 1, "",
        "def forward(self, s):\n    return s.masked_fill(self.m, float(\"-inf\")).softmax(1)\n"),
}  # fmt: skip
# Programs whose change would be a guess.
NOT_UNDERSTOOD = {
    "optimizer/stale_gradients": ("loss.backward()\na.step()\nb.step()\n", 1, ""),
    "training_loop/retained_graph": ("backward(loss)\n", 1, ""),
    "data/unshuffled": ("for x in DataLoader(rows, sampler=s):\n    pass\n", 1, ""),
    "model/double_softmax": ("loss = loss_of(net(x), y)\n", 1, ""),
    "evaluation/in_train_mode": ("for epoch in range(3):\n    train()\n    net(x)\nnet.train()\n", 3, ""),
    "training_loop/unscaled_accumulation": ("loss.backward()\n", 1, "no number"),
}


class Suggest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dlcheck-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def suggest(self, check, source, lines, message, *folder):
        """`lines`: one line of the finding, or several."""
        program, result = self.folder / "program.py", self.folder / "result.json"
        if source is not None:
            program.write_text(source)
        lines = lines if isinstance(lines, list) else [lines]
        places = [{"thing": "w"}, *({"file": str(program), "line": line} for line in lines)]
        finding = {"message": message, "places": places}
        result.write_text(json.dumps({"order": [{"id": check}], "checks": [{"id": check, "findings": [finding]}]}))
        process = subprocess.run([sys.executable, "-B", "-m", "dlcheck_suggest", result, *folder], cwd=FOLDER,
                                 capture_output=True, text=True)
        self.assertEqual(process.returncode, 0, process.stderr)
        return process

    def test_the_diff_of_each_repair_makes_the_program_as_it_should_be(self):
        for check, (source, line, message, expected) in MENDED.items():
            with self.subTest(check):
                process = self.suggest(check, source, line, message)
                self.assertTrue(process.stdout.startswith(f"# {check}: "), process.stderr)
                subprocess.run(["patch", "-s", "-p0"], cwd="/", input=process.stdout, text=True, check=True)
                self.assertEqual((self.folder / "program.py").read_text(), expected)

    def test_of_several_lines_the_first_that_has_a_repair_is_changed(self):
        source = "loss = net(x).mean()\nloss.backward(retain_graph=True)\n"
        printed = self.suggest("training_loop/retained_graph", source, [1, 2], "").stdout
        self.assertIn("-loss.backward(retain_graph=True)\n+loss.backward()\n", printed)

    def test_a_folder_gets_the_diff_the_changed_text_and_what_they_are_for(self):
        folder = self.folder / "a folder"
        folder.mkdir()
        for check, loss in (("training_loop/unscaled_accumulation", "0"), ("program/method_not_called", "1")):
            source, line, message, expected = MENDED[check]
            printed = self.suggest(check, source, line, message).stdout
            self.assertEqual(self.suggest(check, source, line, message, folder).stdout, "")
            self.assertEqual((folder / "changed").read_text(), expected)
            self.assertTrue(printed.endswith((folder / "change.diff").read_text()))
            lines = (folder / "suggestion").read_text().splitlines()
            self.assertEqual(lines, [f"check\t{check}", f"file\t{self.folder / 'program.py'}", f"keeps_loss\t{loss}"])

    def test_without_a_repair_nothing_is_put_into_the_folder(self):
        folder = self.folder / "a folder"
        folder.mkdir()
        self.suggest("training_loop/retained_graph", "backward(loss)\n", 1, "", folder)
        self.assertEqual(list(folder.iterdir()), [])

    def test_a_form_that_is_not_understood_is_left_alone_with_the_reason(self):
        for check, (source, line, message) in NOT_UNDERSTOOD.items():
            with self.subTest(check):
                process = self.suggest(check, source, line, message)
                self.assertEqual(process.stdout, "")
                self.assertIn(f"no suggestion for {check}: ", process.stderr)
                self.assertIn("is not understood", process.stderr)

    def test_a_file_that_is_gone_or_no_python_is_told(self):
        for source, reason in ((None, "No such file"), ("def (:\n", "invalid syntax"), ("x = '\0'\n", "null")):
            process = self.suggest("training_loop/retained_graph", source, 1, "")
            self.assertEqual(process.stdout, "")
            self.assertIn(reason, process.stderr)


if __name__ == "__main__":
    unittest.main()
