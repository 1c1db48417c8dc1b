"""What `dlcheck suggest` prints mends planted faults: with the change the finding is gone, and nothing new is found.

A third of the programs, drawn by the commit; DLCHECK_ALL=1 takes all.
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
from watching import DLCHECK, PYTHON

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
    def watch(self, folder, fault):
        words = [DLCHECK, "run", "--output-dir", folder / "out", "--", PYTHON, "-W", "ignore", folder / "program.py"]
        process = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300,
                                 env=beside_its_host(fault))
        result = json.loads((folder / "out" / "result.json").read_text())
        found = {check["id"]: check["findings"][0] for check in result["checks"] if check["findings"]}
        return process, found, result

    def test_with_the_suggested_change_the_finding_is_gone_and_nothing_new_is_found(self):
        for fault, host in MENDED if os.environ.get("DLCHECK_ALL") else drawn(MENDED, 3):
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
