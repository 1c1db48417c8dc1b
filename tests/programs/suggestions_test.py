"""What `dlcheck suggest` prints mends planted faults: with the change the finding is gone, and nothing new is found.
Under --deep the report says so, and the program stays as it is.

A sixth of the programs, drawn by the commit; DLCHECK_ALL=1 takes all.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from check_faults import beside_its_host
from drawing import drawn
from plants import FAULTS, planted
from watching import DLCHECK, PYTHON, allows_layers, python

MENDED = [
    ("no_clearing", "plain_script"), ("no_clearing", "bf16_main"), ("no_clearing", "event_stream"),
    ("graph_retained", "closures"), ("clipped_after_step", "trainer_class"), ("step_first", "running_average"),
    ("step_first", "finetune"), ("moved_before_step", "event_stream"), ("probabilities_into_loss", "finetune"),
    ("clipped_while_scaled", "framework"), ("clipped_while_scaled", "event_stream"),
    ("evaluated_in_training_mode", "trainer_class"), ("evaluated_in_training_mode", "counted_tokens"),
    ("not_divided", "event_stream"), ("in_order", "plain_script"), ("in_order", "running_average"),
    ("call_without_parentheses", "plain_script"), ("result_not_taken", "found_marks"),
    ("mask_of_minus_five", "found_marks"), ("mask_of_minus_five", "labeled_decoder"),
]  # fmt: skip


class Suggestions(unittest.TestCase):
    def watch(self, folder, fault, *options):
        start = [PYTHON, "-W", "ignore"] if options else python()  # experiments need a Python of their own
        words = [DLCHECK, "run", *options, "--output-dir", folder / "out", "--", *start, folder / "program.py"]
        process = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300,
                                 env=beside_its_host(fault))
        result = json.loads((folder / "out" / "result.json").read_text())
        found = {check["id"]: check["findings"][0] for check in result["checks"] if check["findings"]}
        return process, found, result

    def chosen(self):
        return MENDED if os.environ.get("DLCHECK_ALL") else drawn(MENDED, 6)

    def test_a_deep_run_tries_the_change_and_leaves_the_program_as_it_is(self):
        if not allows_layers():
            self.skipTest("this system gives a run no files of its own")
        for fault, host in self.chosen():
            with self.subTest(fault=fault, host=host), tempfile.TemporaryDirectory(prefix="dlcheck-test-") as name:
                folder, check, source = pathlib.Path(name), FAULTS[fault].check, planted(fault, host)
                (folder / "program.py").write_text(source)
                process, _, result = self.watch(folder, fault, "--deep", "--select", check)
                tried = result["tried"]
                self.assertEqual((tried["check"], tried["gone"]), (check, True), tried["outcome"])
                self.assertIn("  tried  With the change of `dlcheck suggest`, the finding is", process.stderr)
                self.assertEqual((folder / "program.py").read_text(), source)
                self.assertEqual(sorted(path.name for path in (folder / "out/runs").iterdir())[0], "00-plain-0")
                print(f"{fault} in {host}: {tried['outcome']}", flush=True)

    def test_with_the_suggested_change_the_finding_is_gone_and_nothing_new_is_found(self):
        for fault, host in self.chosen():
            with self.subTest(fault=fault, host=host), tempfile.TemporaryDirectory(prefix="dlcheck-test-") as name:
                folder = pathlib.Path(name)
                program = folder / "program.py"
                program.write_text(planted(fault, host))
                _, before, _ = self.watch(folder, fault)
                check = FAULTS[fault].check
                self.assertIn(check, before)
                suggested = subprocess.run([DLCHECK, "suggest", folder / "out"], capture_output=True, text=True)
                self.assertTrue(suggested.stdout.startswith(f"# {check}: "), suggested.stderr)
                subprocess.run(["patch", "-s", "-p0"], cwd="/", input=suggested.stdout, text=True, check=True)
                process, after, _ = self.watch(folder, fault)
                loud = [check for check, finding in after.items() if finding["severity"] != "note"]
                self.assertNotIn(check, after, suggested.stdout)
                self.assertEqual([check for check in loud if check not in before], [], process.stderr)
                print(f"{fault} in {host}: {check} is gone", flush=True)


if __name__ == "__main__":
    unittest.main()
