"""Records that were written once: judged the same for ever, and never taken back while they grow."""

import json
import os
import shutil
import unittest

import sealing
from support import SOURCE, EndToEnd

GOLDEN = SOURCE / "tests" / "golden"
RECORD = 64


class Recorded(EndToEnd):
    def judge(self, folder):
        """Checks by id of a judgement of this folder, and the whole result without what is volatile."""
        copy = self.folder / "result.json"
        process = self.dlcheck("judge", folder, "--report", f"json={copy}")
        self.assertIn(process.returncode, (0, 1, 5), process.stderr)
        result = json.loads(copy.read_text())
        del result["volatile"]
        return {check["id"]: check for check in result["checks"]}, result

    def test_the_trace_of_every_released_format_is_judged_as_it_was(self):
        for trace in sorted(GOLDEN.glob("trace-*")):
            with self.subTest(trace=trace.name):
                golden = trace / "result.json"
                _, result = self.judge(trace)
                text = json.dumps(result, indent=1) + "\n"
                if "DLCHECK_UPDATE_GOLDENS" in os.environ:
                    golden.write_text(text)
                self.assertEqual(text, golden.read_text(), f"{golden} is another one; ci/generate writes it again")

    def test_an_experiment_that_was_killed_before_it_began_is_no_part_of_the_judgement(self):
        shutil.copytree(GOLDEN / "trace-2.0", self.out)
        _, whole = self.judge(self.out)
        (self.out / "runs/01-same_seed-1").mkdir()
        self.assertEqual(self.judge(self.out)[1]["checks"], whole["checks"])
        verified = self.dlcheck("verify", self.out)
        self.assertEqual(verified.returncode, 5, verified.stdout + verified.stderr)
        self.assertIn("01-same_seed-1  not complete", verified.stdout)

    def test_what_may_speak_live_is_never_withdrawn_by_more_records(self):
        listed = json.loads(self.dlcheck("list", "--json").stdout)
        live = [check["id"] for check in listed if check["live"]]
        self.assertTrue(live)
        shutil.copytree(GOLDEN / "trace-2.0", self.out)
        next(self.out.glob("runs/*/ending")).unlink()  # the run goes on
        folder = next(self.out.glob("runs/*/records"))
        sealing.copy(folder, folder, "golden", size=1)
        path = next(folder.glob("*.records"))
        data = path.read_bytes()
        said = set()
        for end in range(3 * RECORD, len(data) + 1, 2 * RECORD):
            path.write_bytes(data[:end])
            checks, _ = self.judge(self.out)
            for check in live:
                if checks[check]["outcome"] == "failed":
                    said.add(check)
                self.assertEqual(checks[check]["outcome"] == "failed", check in said,
                                 f"{check} was withdrawn at byte {end}")
        # Of the others, the examples are cut after every record; see tests/catalog/live_test.cc.
        self.assertEqual(said, {"optimizer/stale_gradients"})


if __name__ == "__main__":
    unittest.main()
