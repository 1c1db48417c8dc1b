"""Programs on an accelerator: watched they print the same and are quiet, and their faults are named first."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from accelerator_faults import FAULTS
from check_healthy import BROKEN
from watching import BY_TIME, DLCHECK, FOLDER, PYTHON, environment

PROGRAMS = FOLDER / "accelerator"
# Fixed sums on a device, so that two runs print the same.
FIXED = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


def command(name, file):
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=1"] if name == "all_on_one" else []
    return [PYTHON, "-W", "ignore", *launcher, file]


def execute(words, folder):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, cwd=folder,
                          env=dict(environment(), **FIXED), check=False)  # fmt: skip


def watched(words, folder, options=()):
    """(the finished process, result.json) of a program under dlcheck."""
    process = execute([DLCHECK, "run", "--output-dir", f"{folder}/out", "--exit-code", "program", *options, "--",
                       *words], folder)  # fmt: skip
    return process, json.loads(pathlib.Path(folder, "out/result.json").read_text())


class Accelerator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        there = [PYTHON, "-W", "ignore", "-c", "import torch; print(torch.cuda.is_available())"]
        if subprocess.run(there, capture_output=True, text=True, check=False).stdout.strip() != "True":
            raise unittest.SkipTest("there is no accelerator")

    def test_healthy_programs_print_the_same_and_are_quiet(self):
        for file in sorted(PROGRAMS.glob("*.py")):
            with self.subTest(file.stem), tempfile.TemporaryDirectory() as folder:
                words = command(file.stem, file)
                alone = execute(words, folder)
                process, result = watched(words, folder)
                self.assertEqual((process.returncode, process.stdout), (alone.returncode, alone.stdout), process.stderr)
                loud = [check["id"] for check in result["checks"] for finding in check["findings"]
                        if finding["severity"] != "note" and check["id"] not in BY_TIME]  # fmt: skip
                self.assertEqual(loud, [], process.stderr)
                self.assertNotRegex(process.stderr, BROKEN)

    def test_faults_are_named_first(self):
        for fault, (name, old, new, check) in FAULTS.items():
            with self.subTest(fault), tempfile.TemporaryDirectory() as folder:
                source = (PROGRAMS / f"{name}.py").read_text()
                self.assertEqual(source.count(old), 1)
                file = pathlib.Path(folder, "train.py")
                file.write_text(source.replace(old, new))
                process, result = watched(command(name, file), folder)
                order = [cause["id"] for cause in result["order"] if cause["id"] != "program/failed"]
                self.assertEqual(order[:1], [check], process.stderr)
                self.assertNotRegex(process.stderr, BROKEN)

    def test_a_program_without_memory_on_the_device_is_told_of_with_its_own_error(self):
        self.fails("x = torch.empty(1 << 50, device='cuda')", "OutOfMemoryError")

    def test_a_program_whose_device_fails_is_told_of_with_its_own_error(self):
        self.fails("torch.ones(3, device='cuda')[torch.tensor([7], device='cuda')].sum().item()", "AcceleratorError")

    def fails(self, line, error):
        """The line in the tenth step ends the program as alone; what was recorded until then is judged."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "train.py")
            file.write_text((PROGRAMS / "two_players.py").read_text().replace(
                "    maker_steps.step()\n", f"    maker_steps.step()\n    if step == 10:\n        {line}\n"))
            alone = execute(command("", file), folder)
            process, result = watched(command("", file), folder)
            self.assertEqual(process.returncode, alone.returncode)
            self.assertEqual(process.stdout, alone.stdout)
            failed = next(check for check in result["checks"] if check["id"] == "program/failed")
            self.assertIn(error, json.dumps(failed["findings"]))
            self.assertGreaterEqual(result["coverage"]["steps"], 10)


if __name__ == "__main__":
    unittest.main()
