"""Checkpoints outlive what happens to the process that writes them."""

import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from support import BUILD, EndToEnd, drawn_tests

TRAINER = BUILD / "bin" / "dlcheck-train"
PRELOADED = BUILD / "tests" / "libfailing_call.so"
KILLS = 50


@drawn_tests(3)
class Saving(EndToEnd):
    def command(self, folder, *flags):
        return [TRAINER, "--width", "16", "--evaluate-every", "1000000", "--dropout", "0.1",
                "--checkpoints", folder, "--checkpoint-every", "1", *map(str, flags)]

    def train(self, folder, *flags, environment=()):
        return subprocess.run(self.command(folder, *flags), capture_output=True, text=True,
                              env=dict(os.environ, **dict(environment)), check=False, timeout=120)

    @staticmethod
    def newest(folder):
        """The newest complete checkpoint."""
        steps = [name for name in os.listdir(folder) if name.removeprefix("step-").isdigit()]
        return max(steps) if steps else None

    def state(self, folder, name):
        return (pathlib.Path(folder) / name / "state.safetensors").read_bytes()

    def assert_equals_the_uninterrupted_run(self, folder):
        """The newest checkpoint is, byte for byte, that of a run to the same step."""
        name = self.newest(folder)
        whole = self.folder / "whole"
        shutil.rmtree(whole, ignore_errors=True)
        step = int(name.removeprefix("step-"))
        process = self.train(whole, "--steps", step, "--checkpoint-every", "0")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(self.state(folder, name), self.state(whole, name), name)

    def test_a_complete_checkpoint_is_found_after_a_kill_at_any_moment_of_saving(self):
        folder = self.folder / "killed"
        moments = random.Random(7)
        last = None
        for kill in range(KILLS):
            process = subprocess.Popen(self.command(folder, "--steps", 10**8, "--resume"),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 60
            # Not before it saves; then at a moment that has nothing to do with its steps.
            while not folder.exists() or self.newest(folder) == last:
                self.assertIsNone(process.poll(), process.stderr.read() if process.poll() else "")
                self.assertLess(time.monotonic(), deadline, "no checkpoint came")
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.03))
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stderr.close()
            newest = self.newest(folder)
            self.assertTrue(last is None or newest > last, f"kill {kill}: {newest} after {last}")
            last = newest
        self.assert_equals_the_uninterrupted_run(folder)
        leftover = [name for name in os.listdir(folder) if not name.removeprefix("step-").isdigit()]
        process = self.train(folder, "--steps", int(last.removeprefix("step-")) + 2, "--resume")
        self.assertEqual(process.returncode, 0, f"{process.stderr} {leftover}")
        self.assert_equals_the_uninterrupted_run(folder)

    def test_a_failure_of_any_one_system_call_of_a_save_loses_nothing(self):
        begun = self.folder / "begun"
        self.assertEqual(self.train(begun, "--steps", 3).returncode, 0)
        failed = []
        while True:
            folder = self.folder / "failing"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(begun, folder)
            process = self.train(folder, "--steps", 4, "--resume", environment={
                "LD_PRELOAD": PRELOADED, "FAIL_UNDER": folder, "FAIL_AT": str(len(failed) + 1)})
            if "failed " not in process.stderr:
                self.assertEqual(process.returncode, 0, process.stderr)
                break
            call = process.stderr.split("failed ")[1].split("\n")[0]
            failed.append(call.split()[0])
            # Either the save is said to have failed, or it is there: what came after it was tidying.
            if self.newest(folder) != "step-000000004":
                # Before the first step it is the folder that is refused, or a file in it.
                refused = re.search(f"dlcheck-train: (checkpoints cannot be kept there: cannot |'{folder})",
                                    process.stderr)  # fmt: skip
                self.assertEqual(process.returncode, 2 if refused else 1, call)
                self.assertRegex(process.stderr, f"{folder}[^ ]*': [A-Z]")
                self.assertTrue(refused or "no checkpoint at step 4: cannot " in process.stderr, call)
                self.assertEqual(self.state(folder, "step-000000003"),
                                 self.state(begun, "step-000000003"), call)
            process = self.train(folder, "--steps", 6, "--resume")
            self.assertEqual(process.returncode, 0, f"{call}: {process.stderr}")
            self.assert_equals_the_uninterrupted_run(folder)
        self.assertLessEqual({"open", "read", "opendir", "write", "fsync", "close", "mkdir", "rename"}, set(failed))

    def test_a_signal_ends_the_run_with_a_checkpoint_and_the_signal_as_its_status(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            folder = self.folder / f"signal-{number}"
            process = subprocess.Popen(self.command(folder, "--steps", 10**8, "--checkpoint-every", 0),
                                       stdout=subprocess.PIPE, text=True)
            process.stdout.readline()  # the first evaluation
            time.sleep(0.1)
            process.send_signal(number)
            out, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, -number)
            self.assertIn("--resume goes on from there", out)
            self.assert_equals_the_uninterrupted_run(folder)


if __name__ == "__main__":
    unittest.main()
