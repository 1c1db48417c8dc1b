"""Faults are named in programs whose tensors all lie on an accelerator, as far as a machine without one can tell."""

import pathlib
import tempfile
import unittest

import check_faults
import check_healthy
from drawing import drawn
from pretended_device import pretending

# Their twin is no program of a device: its half precision, or what its data set gives, stays on the CPU.
NOT_ON_DEVICE = {("mean_of_means", "event_stream")}
SHARE = 100  # one in so many


class Once:
    """What `check_faults.chosen` takes: each fault in one host."""

    host, fault, draw, once = None, None, False, True


class PretendedDevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dlcheck = pretending(cls.folder.name)

    def setUp(self):
        for module in (check_faults, check_healthy):
            self.addCleanup(setattr, module, "DLCHECK", module.DLCHECK)
            module.DLCHECK = self.dlcheck

    def test_faults_are_named(self):
        pairs = [pair for pair in check_faults.chosen(Once) if check_faults.processes_of(*pair) == 1]
        for pair in drawn([pair for pair in pairs if pair not in NOT_ON_DEVICE], SHARE):
            with self.subTest(pair):
                self.assertIsNone(check_faults.run(*pair))

    def test_healthy_programs_are_quiet(self):
        programs = sorted(path.stem for path in pathlib.Path(check_healthy.FOLDER, "healthy").glob("*.py"))
        for name in drawn(programs, 2 * SHARE):
            with self.subTest(name):
                *_, problems, _ = check_healthy.watch(name, 1, harmless=False)
                self.assertEqual(problems, [])


if __name__ == "__main__":
    unittest.main()
