"""The Python side of the goldens that both writers are held to; see golden_records_test.cc."""

import itertools
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch

from tests.observe.reading import ROOT, SHIM

sys.path.insert(0, str(SHIM))
from dlcheck_shim.record import names  # noqa: E402
from dlcheck_shim.record.digest import digest  # noqa: E402
from dlcheck_shim.record.sampling import is_sampled, takes_digest  # noqa: E402
from dlcheck_shim.record.writer import EVENT, GAP, QUANTITY, TraceWriter  # noqa: E402

GOLDENS = ROOT / "tests/golden/records"


def write_small_trace(writer):
    quantities, events = names.QUANTITIES, names.EVENTS
    writer.attribute(0, "program", "train\tme.py 100% \u00e9")
    weight = writer.thing("parameter", 0, "fc1.weight")
    loss = writer.thing("loss", 0, "cross_entropy")
    site = writer.site("/home/me/train.py", 84, "main")
    writer.attribute(weight, "shape", "10x64")
    assert writer.thing("parameter", 0, "fc1.weight") == weight
    writer.put(EVENT, events["backward"], 0, 0, loss, site, 0, 0, 0)
    writer.put(QUANTITY, quantities["loss"], 0, 0, loss, site, 0, 2.302585092994046, 64)
    writer.put(QUANTITY, quantities["gradient_norm"], 0, 1, weight, 0, 1, math.nan, 640)
    writer.put(QUANTITY, quantities["weight_norm"], 7, 4000000000, weight, 0, 1, -math.inf, 0)
    writer.put(GAP, events["step"], 64, 0, 0, 0, 0, 8, 71)
    writer.put(EVENT, events["step"], 72, 1, 0, 0, 0, 0, 0)


def numbers():
    sampled = [step for step in range(5000) if is_sampled(step)]
    text = ""
    for step in sampled:
        if step == 0 or not is_sampled(step - 1):
            text += f"sampled {step}"
        if not is_sampled(step + 1):
            text += f" to {step}\n"
    text += "".join(f"digest at {step}\n" for step in range(5000) if takes_digest(step))
    for size in (0, 1, 8, 13, 4096, 600001):
        data = torch.tensor([(i * 7 + 3) % 256 for i in range(size)], dtype=torch.uint8)
        text += f"digest of {size} bytes {digest([data])}\n"
    return text


class GoldenRecords(unittest.TestCase):
    def test_are_written_byte_for_byte(self):
        clock = itertools.count(1010, 10)
        with tempfile.TemporaryDirectory() as folder:
            writer = TraceWriter(
                folder, "golden", "child", 11 * 64, clock=lambda: next(clock), process=4242
            )
            write_small_trace(writer)
            writer.close()
            for ending in ("records", "names"):
                written = (pathlib.Path(folder) / "records" / f"4242-0.{ending}").read_bytes()
                self.assertEqual(written, (GOLDENS / f"small.{ending}").read_bytes(), ending)

    def test_hold_sampled_steps_and_digests(self):
        self.assertEqual(numbers(), (GOLDENS / "numbers.txt").read_text())

    def test_names_are_not_stale(self):
        command = [sys.executable, str(ROOT / "ci/generate_names.py"), "--check"]
        self.assertEqual(subprocess.run(command, check=False).returncode, 0)

    def test_digest_of_parts_goes_on_at_a_word_of_its_own(self):
        one, other = torch.arange(3, dtype=torch.int32), torch.arange(5, dtype=torch.float64)
        padded = torch.cat([one, torch.zeros(1, dtype=torch.int32)]).view(torch.float64)
        self.assertEqual(digest([one, other]), digest([torch.cat([padded, other])]))
        self.assertEqual(digest([other[::2]]), digest([other[::2].contiguous()]))


if __name__ == "__main__":
    unittest.main()
