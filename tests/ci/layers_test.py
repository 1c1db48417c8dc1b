"""An import that goes up the layers of the Python probe is named, and so is a private name of torch."""

import sys
import unittest

from loading import CI

sys.path.insert(0, str(CI))
import check_layers  # noqa: E402

STATE = check_layers.PROBE + "state/models.py"


def faults(name, *lines):
    return list(check_layers.broken_imports(name, lines))


class Layers(unittest.TestCase):
    def test_an_import_from_above_is_named_with_its_line(self):
        self.assertEqual(faults(STATE, "import os", "from ..hooks.loss import LossHooks"),
                         [f"{STATE}:2: imports from hooks, a layer above"])
        self.assertEqual(len(faults(STATE, "from .. import watch")), 1)

    def test_its_own_package_and_those_below_may_be_imported(self):
        self.assertEqual(faults(STATE, "from . import weights", "from ..record.digest import digest"), [])

    def test_an_experiment_may_use_everything_but_the_top(self):
        name = check_layers.PROBE + "experiments/trials/run.py"
        self.assertEqual(faults(name, "from ...hooks import step", "from . import bench"), [])
        self.assertEqual(len(faults(name, "from ...watch import Watch")), 1)


class PrivateNames(unittest.TestCase):
    def test_a_private_name_of_torch_is_named_with_its_line(self):
        lines = ("import torch", "torch._C._len_torch_dispatch_stack()")
        found = list(check_layers.private_names(STATE, lines))
        self.assertEqual(len(found), 2)
        self.assertTrue(all(fault.startswith(f"{STATE}:2: _") for fault in found))
        self.assertEqual(len(list(check_layers.private_names(STATE, ['replace([iterator], "_reset", made)']))), 1)

    def test_the_one_file_for_them_may_have_them_and_so_may_what_is_our_own(self):
        self.assertEqual(list(check_layers.private_names(check_layers.PRIVATE, ["torch._C._set()"])), [])
        self.assertEqual(list(check_layers.private_names(STATE, ["self._own = sys._getframe(1)"])), [])


if __name__ == "__main__":
    unittest.main()
