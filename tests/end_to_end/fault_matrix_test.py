"""Every fault that the reference trainer can plant is found by the check that claims it, first among
the findings; what else fires stands in a golden, so that a new false alarm shows as a diff. One in 40 of
the faults, drawn by the commit; DLCHECK_ALL=1 takes all.

DLCHECK_UPDATE_GOLDENS=1 rewrites the golden.
"""

import os
import shutil
import subprocess
import sys
import unittest

from clean_recipes import RECIPES
from support import SOURCE, TRAINER, EndToEnd, drawn

sys.path.insert(0, str(SOURCE / "tests/programs"))
import framework_plants  # noqa: E402, F401
import rank_plants  # noqa: E402, F401
from plants import FAULTS  # noqa: E402
from watching import BY_TIME  # noqa: E402

GOLDEN = SOURCE / "tests" / "golden" / "fault_matrix.txt"
# Whether a broken training diverges as far as this depends on the rounding of the processor.
VARYING = {"gradients/exploding", "training_loop/diverging_loss", "training_loop/flat_loss"}
# What only such a machine has; see tests/observe/shim_host_reads_test.py.
NEEDING_AN_ACCELERATOR = {"performance/host_device_sync"}
# What traces and snapshots of PyTorch show, and no watched run.
OF_LOGS = {"performance/idle_accelerator", "performance/unfreed_memory"}

# Of a library that the tests do not install; tests/observe/shim_policies_test.py has a stand-in.
OF_LIBRARIES = {"training_loop/time_limit_as_end"}


def faults():
    """Name, claimed check and options of every fault."""
    if not TRAINER.exists():
        return []
    lines = subprocess.run([TRAINER, "--list-faults"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return [line.split("\t")[:3] for line in lines]


class FaultMatrix(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()

    def findings(self):
        """Failed checks with their worst severity, in the order of the report; symptoms without, as how far
        a broken training diverges depends on the rounding of the processor."""
        result = self.result()
        severity = {check["id"]: check["severity"] for check in result["checks"]}
        rows = []
        for cause in result["order"]:
            if cause["id"] in BY_TIME:
                continue
            rows.append(f"{cause['id']} ({severity[cause['id']]})")
            rows.extend(f"hidden {hidden}" for hidden in cause["hides"] if hidden not in VARYING | BY_TIME)
        return rows

    def test_every_fault_is_found_first_and_nothing_unexpected_fires(self):
        rewrites = "DLCHECK_UPDATE_GOLDENS" in os.environ
        golden = dict(line.split("\t") for line in GOLDEN.read_text().splitlines())
        table = {}
        for name, check, options in faults() if rewrites else drawn(faults(), 40):
            with self.subTest(fault=name):
                self.out = self.folder / name
                process = self.run_command(TRAINER, "--fault", name, options=options.split())
                self.assertEqual(process.returncode, 1, process.stderr)
                result = self.result()
                self.assertEqual(result["order"][0]["id"], check, process.stderr)
                table[name] = ", ".join(self.findings())
        if rewrites:
            GOLDEN.write_text("".join(f"{name}\t{found}\n" for name, found in table.items()))
        else:
            self.assertEqual(table, {name: golden.get(name) for name in table})
            self.assertEqual(golden.keys(), {name for name, _, _ in faults()})

    def test_every_check_is_claimed_by_a_fault(self):
        listed = self.dlcheck("list").stdout.split("\n")
        ids = {line.split()[0] for line in listed if line}
        claimed = {check for _, check, _ in faults()} | {f.check for f in FAULTS.values()}
        self.assertEqual(ids - NEEDING_AN_ACCELERATOR - OF_LOGS - OF_LIBRARIES, claimed)

    def test_step_and_parameter_of_a_finding_are_right(self):
        self.run_command(TRAINER, "--fault", "nan_in_one_batch")
        self.assertEqual(self.check("numerics/nonfinite_values")["findings"][0]["first_step"], 40)
        self.run_command(TRAINER, "--fault", "crash_at_step_37")
        self.assertEqual(self.check("program/failed")["findings"][0]["first_step"], 37)
        self.run_command(TRAINER, "--fault", "head_not_in_optimizer")
        places = self.check("optimizer/untracked_parameters")["findings"][0]["places"]
        self.assertTrue(places)
        self.assertTrue(all(place["thing"].startswith("head.") for place in places), places)
        self.run_command(TRAINER, "--fault", "detached_trunk")
        places = self.check("gradients/missing")["findings"][0]["places"]
        self.assertTrue(places)
        self.assertFalse(any(place["thing"].startswith("head.") for place in places), places)


class Healthy(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()

    def test_check_without_arguments_passes_nine_checks_fails_none_and_gives_the_same_result_again(self):
        results = []
        for _ in range(2):
            process = self.dlcheck("check", "--output-dir", self.out)
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertEqual(self.found(), [], process.stderr)
            result = self.result()
            del result["volatile"]
            results.append(result)
        self.assertGreaterEqual(results[0]["exit"]["counts"]["passed"], 9)
        if not any(check["id"] in BY_TIME and check["findings"] for result in results for check in result["checks"]):
            self.assertEqual(*results)

    def test_the_convolutional_network_passes_too(self):
        process = self.dlcheck("check", "--output-dir", self.out, "--model", "resnet")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(self.found(), [], process.stderr)

    def test_check_prints_the_line_that_it_is(self):
        process = self.dlcheck("check", "--output-dir", self.out, "--select", "gradients", "--seed", "3")
        line = process.stderr.splitlines()[0]
        self.assertEqual(line, f"dlcheck run --deep --output-dir {self.out} --select gradients "
                               f"--timeout 600 -- {TRAINER} --seed 3")

    def test_a_twelfth_of_the_healthy_recipes_draws_no_finding_under_any_experiment(self):
        for name in drawn(sorted(RECIPES), 48):
            with self.subTest(recipe=name):
                shutil.rmtree(self.out, ignore_errors=True)
                flags = RECIPES[name].replace("FOLDER", str(self.folder / "checkpoints")).split()
                process = self.run_command(TRAINER, *flags, options=["--deep"])
                self.assertEqual((process.returncode, self.found()), (0, []), process.stderr)


if __name__ == "__main__":
    unittest.main()
