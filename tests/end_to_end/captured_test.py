"""A run with --capture keeps the batches of its first steps, and `dlcheck reference` trains baseline models on them."""

import json
import signal
import struct
import subprocess
import textwrap
import unittest

from leftovers import processes_below
from support import DLCHECK, TORCH_PYTHON, EndToEnd, environment

# Prints its weights, and leaves what it trained on in own.json.
PROGRAM = textwrap.dedent(
    """
    import json, torch, torch.nn.functional as F
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    x = torch.randn(800, 8)
    data = TensorDataset(x, x[:, :4].argmax(1))
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), *LAYERS, nn.Linear(32, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    own = []
    for epoch in range(4):
        for given, labels in DataLoader(data, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(GIVEN), labels, label_smoothing=0.1)
            loss.backward()
            optimizer.step()
            own.append((given.flatten().tolist(), labels.tolist()))
        model.eval()
        with torch.no_grad():
            F.cross_entropy(model(x[:100]), data.tensors[1][:100])
        model.train()
    json.dump(own, open("own.json", "w"))
    print(sum(parameter.double().sum().item() for parameter in model.parameters()), torch.rand(1).item())
    """
)


class Captured(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_torch()
        self.require_trainer()

    def watch(self, *options, rate="1e-2", given="given", layers="()", before=""):
        program = before + PROGRAM.replace("RATE", rate).replace("GIVEN", given).replace("LAYERS", layers)
        (self.folder / "train.py").write_text(program)
        return self.run_command(TORCH_PYTHON, "-W", "ignore", "train.py", options=options, cwd=self.folder)

    def captured(self):
        """Header lines and tensors of the only file of this run, as Python lists."""
        (file,) = self.out.glob("runs/*/capture-*.batches")
        head, rest = file.read_bytes().split(b"\n", 1)
        self.assertEqual(head, b"dlcheck capture 1")
        lines = []
        while rest:
            text, rest = rest.split(b"\n", 1)
            lines.append(json.loads(text))
            for name in ("x", "y") if "x" in lines[-1] else ():
                count = 1
                for extent in lines[-1][name]["shape"]:
                    count *= extent
                size = count * {"float32": 4, "int64": 8}[lines[-1][name]["dtype"]]
                lines[-1][name]["bytes"], rest = rest[:size], rest[size:]
        return lines

    def reference(self):
        return self.dlcheck("reference", self.out)

    def test_the_batches_are_those_that_the_model_was_given_and_no_bit_of_the_program_changes(self):
        plain = self.watch().stdout
        captured = self.watch("--capture", "60")
        self.assertEqual(captured.stdout, plain)
        lines = self.captured()
        self.assertEqual([line["step"] for line in lines], list(range(60)))
        own = json.loads((self.folder / "own.json").read_text())
        for line, (x, y) in zip(lines, own):
            self.assertEqual(list(struct.unpack(f"<{len(x)}f", line["x"]["bytes"])), x)
            self.assertEqual(list(struct.unpack(f"<{len(y)}q", line["y"]["bytes"])), y)

    def test_a_program_that_learns_passes_and_one_that_does_not_fails(self):
        self.watch("--capture", "100")
        process = self.reference()
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertIn("passed: No baseline learns more than the program.", process.stdout)
        result = json.loads((self.out / "reference.json").read_text())
        self.assertEqual((result["severity"], len(result["losses"])), ("passed", 100))
        self.assertEqual([one["name"] for one in result["baselines"]], ["linear", "mlp"])
        page = (self.out / "reference.html").read_text()
        self.assertIn("band c2", page)
        self.assertIn(str(self.out / "reference.html"), process.stdout)
        self.watch("--capture", "100", rate="1e-7")
        process = self.reference()
        self.assertEqual(process.returncode, 1, process.stdout)
        self.assertIn("error: The program learns nothing", process.stdout)
        self.assertIn("Likely cause: the optimizer.", process.stdout)
        self.watch("--capture", "100", given="given * 0")
        process = self.reference()
        self.assertEqual(process.returncode, 1, process.stdout)
        self.assertIn("warning: Neither the program nor a baseline learns", process.stdout)
        self.assertIn("Likely cause: the data.", process.stdout)
        self.watch("--capture", "100", layers="(nn.Threshold(1e9, 0.0),)")  # nothing passes
        process = self.reference()
        self.assertIn("Likely cause: the model", process.stdout)
        self.watch("--capture", "100", rate="1e-4", layers="(nn.Dropout(0.2),)")
        process = self.reference()
        self.assertEqual(process.returncode, 1, process.stdout)
        self.assertIn("warning: The plainest baseline, linear, learns more", process.stdout)
        self.assertIn("The program has dropout", process.stdout)

    def test_numbers_are_compared_in_units_of_their_variance(self):
        numbers = "import torch; torch.nn.functional.cross_entropy = (lambda given, labels, **options:" \
                  " torch.nn.functional.mse_loss(given[:, 0], labels.float() * 100))\n"  # fmt: skip
        self.watch("--capture", "100", before=numbers, rate="1e-4")
        process = self.reference()
        self.assertIn("a number as target", process.stdout)
        self.assertEqual(process.returncode, 1, process.stdout)

    def test_a_program_that_minimizes_something_else_gets_no_verdict(self):
        def says(options):
            with_options = "import torch; from torch.nn import functional as F; F.cross_entropy = " \
                           f"(lambda given, labels, label_smoothing=0, plain=F.cross_entropy: {options})\n"  # fmt: skip
            self.watch("--capture", "100", before=with_options, rate="1e-7")
            process = self.reference()
            (line,) = {(line["class_weights"], line["further_terms"]) for line in self.captured()}
            return line, process.returncode, process.stdout

        line, status, text = says("plain(given, labels, weight=torch.ones(4))")
        self.assertEqual((line, status), ((True, False), 0), text)
        self.assertIn("note: No verdict: the program gives its classes weights", text)
        line, status, text = says("plain(given, labels) + 10 * given.square().mean()")
        self.assertEqual((line, status), ((False, True), 0), text)
        self.assertIn("note: No verdict: the program minimizes further terms", text)
        line, status, text = says("plain(given, labels, reduction='none').mean() / 2 + 1e-6 * given.square().mean()")
        self.assertEqual(line, (False, True), text)
        line, status, text = says("plain(given, labels, reduction='none').mean() + 1e-6 * given.square().mean()")
        self.assertEqual((line, status), ((False, False), 1), text)

    def test_the_time_of_a_step_is_that_of_later_ones(self):
        many = PROGRAM.replace("range(4)", "range(40)").replace("GIVEN", "given").replace("LAYERS", "()").replace("RATE", "1e-2")
        (self.folder / "train.py").write_text(many)
        self.run_command(TORCH_PYTHON, "-W", "ignore", "train.py", options=("--capture", "60"), cwd=self.folder)
        self.assertGreater(self.captured()[-1]["milliseconds"], 0.01)
        process = self.reference()
        result = json.loads((self.out / "reference.json").read_text())
        self.assertEqual(result["milliseconds_a_step"], self.captured()[-1]["milliseconds"], process.stdout)
        self.assertEqual(len(result["losses"]), 60)

    def test_of_several_models_the_first_is_kept(self):
        again = PROGRAM.split("print(")[0].split("torch.manual_seed(0)")[1].replace("own.json", "other.json")
        (self.folder / "train.py").write_text(PROGRAM.replace("GIVEN", "given").replace("LAYERS", "()").replace(
            "RATE", "1e-2") + again.replace("GIVEN", "given").replace("LAYERS", "()").replace("RATE", "1e-2"))  # fmt: skip
        self.run_command(TORCH_PYTHON, "-W", "ignore", "train.py", options=("--capture", "200"), cwd=self.folder)
        self.assertEqual([line["step"] for line in self.captured()], list(range(100)))

    def test_a_capture_that_outgrows_its_bound_stops_and_says_so(self):
        smaller = "import torch, sys; sys.modules['dlcheck_shim.hooks.captured'].MOST_BYTES = 20000\n"
        self.watch("--capture", "100", before=smaller)
        *lines, last = self.captured()
        self.assertLess(len(lines), 20)
        self.assertIn("are the most", last["ended"])
        self.assertIn("The capture ends early: ", self.reference().stdout)

    def test_a_signal_to_the_command_ends_the_training_too(self):
        self.watch("--capture", "100")
        with subprocess.Popen([DLCHECK, "reference", self.out], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, env=environment()) as command:  # fmt: skip
            self.assertIn("dlcheck-train:", command.stderr.readline())  # it trains
            command.terminate()
            self.assertEqual(command.wait(60), 128 + signal.SIGTERM)
        self.assertEqual(processes_below(self.out), [])
        self.assertFalse((self.out / "reference.json").exists())

    def test_a_run_without_a_capture_is_told_how_to_make_one(self):
        self.watch()
        process = self.reference()
        self.assertEqual(process.returncode, 2)
        self.assertIn("dlcheck run --capture", process.stderr)


if __name__ == "__main__":
    unittest.main()
