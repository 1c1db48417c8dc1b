"""Records of a very long run: their size, and what judging them costs and finds."""

import json
import os
import subprocess
import time
import unittest

from support import BUILD, DLCHECK, EndToEnd, environment

STEPS = 200_000
MIB = 1 << 20


class LongStream(EndToEnd):
    def judge(self, *arguments):
        run = self.out / "runs" / "00-plain-0"
        run.mkdir(parents=True)
        subprocess.run([BUILD / "tests" / "synthetic_stream", run, str(STEPS), *arguments],
                       check=True)
        size = sum(file.stat().st_size for file in run.glob("records/*"))
        self.assertLess(size, 256 * MIB)
        copy = self.folder / "result.json"
        start = time.monotonic()
        process = subprocess.Popen([DLCHECK, "judge", self.out, "--report", f"json={copy}"],
                                   stderr=subprocess.DEVNULL, env=environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        print(f"{STEPS} steps: {size / MIB:.1f} MiB of records, judged in "
              f"{time.monotonic() - start:.1f} s with {usage.ru_maxrss / 1024:.0f} MiB")
        self.assertLess(usage.ru_maxrss * 1024, 512 * MIB)
        return {check["id"]: check for check in json.loads(copy.read_text())["checks"]}

    def test_three_late_faults_are_found_where_they_are(self):
        checks = self.judge()
        nan = checks["numerics/nonfinite_values"]["findings"][0]
        self.assertEqual(nan["first_step"], 199_123)
        stale = checks["optimizer/stale_gradients"]["findings"][0]
        self.assertEqual(stale["count"], 1)
        self.assertLessEqual(stale["first_step"], 155_000)
        self.assertGreaterEqual(stale["last_step"], 155_000)
        huge = checks["gradients/exploding"]["findings"][0]
        self.assertGreater(huge["measured"], 900)
        self.assertGreaterEqual(huge["first_step"], 164_000 - 200)
        self.assertLess(huge["last_step"], 196_000)

    def test_the_same_stream_without_faults_is_clean(self):
        checks = self.judge("clean")
        self.assertEqual([c["id"] for c in checks.values() if c["outcome"] == "failed"], [])


if __name__ == "__main__":
    unittest.main()
