"""Models of users that end the process, hang or take all memory, as a plugin and as a TorchScript file:
under `dlcheck check` each comes to a line that names the file and the cause, and to an exit code, within
the deadline, and leaves nothing behind. Healthy TorchScript files are trained."""

import subprocess
import time
import unittest

from support import BUILD, TORCH_PYTHON, TRAINER, EndToEnd, drawn_tests, environment

PLUGIN = BUILD / "tests" / "plugins" / "libmisbehaving.so"
MEMORY = ["--memory-limit-mib", "500"]
# What it does in the process of its own, and what the line says of it.
ENDINGS = {
    "abort": "signal 6",
    "segfault": "signal 11",
    "exit": "status 0",
    "throw": "no such luck",
    "throw_number": "",
    "allocate": "can't allocate memory",
    "leak": "signal 11",
}
PLACES = {"load": "as it is loaded", "constructor": "its constructor", "forward": "its forward pass"}
# C++ lets no exception out of an initializer of a library.
UNCAUGHT = {("load", "throw"), ("load", "allocate")}

SCRIPTS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, inputs=64):
        super().__init__()
        self.trunk = nn.Linear(inputs, 48)
        self.norm = nn.BatchNorm1d(48)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(48, 10)

    def forward(self, x):
        return self.head(self.drop(torch.relu(self.norm(self.trunk(x.flatten(1))))))

class Endless(Net):
    def forward(self, x):
        n = 0
        while n < 10:
            n = n * 2
        return self.head(x) + n

class Greedy(Net):
    def forward(self, x):
        held = [x]
        while len(held) > 0:
            held.append(torch.ones(4194304))
        return self.head(held[-1])

torch.manual_seed(0)
torch.jit.script(Net()).save("scripted.pt")
torch.jit.trace(Net(), torch.zeros(2, 1, 8, 8)).save("traced.pt")
torch.jit.script(Net(inputs=3)).save("other_shape.pt")
torch.jit.script(Endless()).save("endless.pt")
torch.jit.script(Greedy()).save("greedy.pt")
torch.jit.freeze(torch.jit.script(Net().eval())).save("frozen.pt")
torch.save(Net().state_dict(), "state.pt")
whole = open("scripted.pt", "rb").read()
open("cut.pt", "wb").write(whole[: len(whole) // 2])
open("text.pt", "w").write("no archive")
open("empty.pt", "w")
"""


class HostileModels(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()

    def train(self, *words, **variables):
        """The trainer alone: its exit code, and its last line."""
        process = subprocess.run([TRAINER, "--steps", "10", *map(str, words)], cwd=self.folder,
                                 capture_output=True, text=True, timeout=120, check=False,
                                 env=environment(**variables))
        return process.returncode, process.stderr.splitlines()[-1] if process.stderr else ""

    def nothing_is_left(self):
        left = subprocess.run(["pgrep", "-f", str(self.folder)], capture_output=True, text=True,
                              check=False).stdout
        # What tries a model has its path on its command line.
        self.assertEqual(left, "")


@drawn_tests(6)
class HostilePlugins(HostileModels):
    def check_plugin(self, place, does, *words):
        link = self.folder / "libnet.so"
        if not link.exists():
            link.symlink_to(PLUGIN)
        return self.dlcheck("check", "--output-dir", self.out, "--model", link, *MEMORY, *words,
                            PLUGIN_PLACE=place, PLUGIN_DOES=does)

    def test_each_way_to_fail_before_training_is_one_line_and_exit_code_2(self):
        for place, called in PLACES.items():
            for does, cause in ENDINGS.items():
                with self.subTest(place=place, does=does):
                    code, line = self.train("--model", PLUGIN, *MEMORY, PLUGIN_PLACE=place,
                                            PLUGIN_DOES=does)
                    self.assertEqual(code, 2, line)
                    self.assertIn(f"'{PLUGIN}': ", line)
                    self.assertIn(called, line)
                    self.assertIn("signal 6" if (place, does) in UNCAUGHT else cause, line)

    def test_a_check_says_it_in_its_result_too(self):
        for place, does in (("load", "abort"), ("constructor", "allocate"), ("forward", "exit")):
            with self.subTest(place=place, does=does):
                process = self.check_plugin(place, does)
                self.assertEqual(process.returncode, 2, process.stderr)
                line = next(line for line in process.stderr.splitlines() if "input rejected" in line)
                self.assertIn("libnet.so: " + ("what it does " if place == "load" else "")
                              + PLACES[place], line)
                self.assertEqual(self.result()["exit"]["code"], 2)
                self.nothing_is_left()

    def test_one_that_hangs_is_named_at_the_deadline(self):
        for place, called in PLACES.items():
            with self.subTest(place=place):
                begin = time.monotonic()
                process = self.check_plugin(place, "loop", "--timeout", "3")
                self.assertLess(time.monotonic() - begin, 20)
                self.assertEqual(process.returncode, 2, process.stderr)
                self.assertIn(f"{called} had not come back after", process.stderr)
                self.nothing_is_left()

    def test_failing_in_the_midst_of_training_is_a_finding_that_names_the_model(self):
        for does, how in (("abort", "was killed by signal 6 after at least"), ("allocate", "exited with status 1 after"),
                          ("throw", "exited with status 1 after"), ("exit", "exited with status 1 after at least")):
            with self.subTest(does=does):
                process = self.check_plugin("training", does)
                self.assertEqual(process.returncode, 1, process.stderr)
                message = self.check("program/failed")["findings"][0]["message"]
                self.assertIn(f"{how} 4 optimizer steps of the model ", message)
                self.assertIn("libnet.so", message)
                self.nothing_is_left()

    def test_hanging_in_the_midst_of_training_ends_at_the_deadline(self):
        begin = time.monotonic()
        process = self.check_plugin("training", "loop", "--timeout", "3")
        self.assertLess(time.monotonic() - begin, 25)
        self.assertEqual(process.returncode, 124, process.stderr)
        message = self.check("program/failed")["findings"][0]["message"]
        self.assertIn("exceeded its time limit after at least 4 optimizer steps of the model", message)
        self.nothing_is_left()

    def test_what_another_libtorch_has_is_said_to_be_missing(self):
        code, line = self.train("--model", BUILD / "tests" / "plugins" / "libundefined_symbol.so")
        self.assertEqual(code, 2, line)
        self.assertIn("undefined symbol: ", line)
        self.assertIn("was it built with another LibTorch? This dlcheck-train has ", line)

    def test_a_model_that_does_nothing_wrong_passes_under_the_limits(self):
        self.assertEqual(self.train("--model", PLUGIN, *MEMORY), (0, ""))


@drawn_tests(6)
class TorchScript(HostileModels):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not TORCH_PYTHON:
            raise unittest.SkipTest("no Python with torch was found when this was configured")

    def setUp(self):
        super().setUp()
        # In a file, because torch.jit.script reads the source.
        (self.folder / "scripts.py").write_text(SCRIPTS)
        subprocess.run([TORCH_PYTHON, "-W", "ignore", "scripts.py"], cwd=self.folder, check=True,
                       env=environment())

    def test_models_are_trained_and_a_line_warns_of_what_shows_in_a_traced_one(self):
        for name, found in (("scripted.pt", []), ("traced.pt", ["evaluation/changes_model"])):
            with self.subTest(name=name):
                process = self.run_command(TRAINER, "--model", name, "--steps", "300")
                self.assertEqual([cause["id"] for cause in self.result()["order"]], found)
                warnings = [line for line in process.stderr.splitlines() if "warning" in line]
                self.assertEqual(len(warnings), 1, process.stderr)
                self.assertIn(f"'{name}' is TorchScript, a legacy format: where it was traced and "
                              "not scripted, it ignores train() and eval()", warnings[0])
                self.assertRegex(process.stdout, r"val accuracy 0\.9")

    def test_a_check_trains_one_under_every_experiment(self):
        process = self.dlcheck("check", "--output-dir", self.out, "--model", "scripted.pt", "--steps", "60")
        self.assertEqual(process.returncode, 0, process.stderr)
        outcomes = {check["outcome"] for check in self.result()["checks"]}
        self.assertNotIn("internal_error", outcomes)
        self.assertEqual(self.check("learnability/cannot_overfit_one_batch")["outcome"], "passed")
        self.assertEqual(self.check("checkpoint/inexact_resume")["outcome"], "passed")

    def test_files_that_are_not_to_be_trained_are_one_line(self):
        causes = {
            "cut.pt": "cannot be read as TorchScript: ",
            "text.pt": "not a ZIP archive",
            "empty.pt": "not a ZIP archive",
            "state.pt": "constants.pkl",
            "missing.pt": "No such file",
            "frozen.pt": "has no parameters to train",
            "other_shape.pt": "its forward pass failed: RuntimeError: mat1 and mat2 shapes",
            "greedy.pt": "std::bad_alloc",
        }
        for name, cause in causes.items():
            with self.subTest(name=name):
                code, line = self.train("--model", name, *MEMORY)
                self.assertEqual(code, 2, line)
                self.assertTrue(line.startswith(f"dlcheck-train: '{name}': "), line)
                self.assertIn(cause, line)

    def test_an_endless_script_is_named_at_the_deadline(self):
        begin = time.monotonic()
        process = self.dlcheck("check", "--output-dir", self.out, "--timeout", "3", "--model",
                               self.folder / "endless.pt")
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(process.returncode, 2, process.stderr)
        self.assertIn("its forward pass had not come back after", process.stderr)
        self.nothing_is_left()


if __name__ == "__main__":
    unittest.main()
