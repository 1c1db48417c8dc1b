"""Every private name of torch that the probe uses is there in the torch at hand, and stands in one file."""

import sys
import unittest

from tests.observe.reading import ROOT

sys.path.insert(0, str(ROOT / "checks/observe/python"))
import torch  # noqa: E402
from dlcheck_shim.torch_api import capabilities, private  # noqa: E402


def examples():
    """By owner, an object that has what only an object of it has."""
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    constant = torch.optim.lr_scheduler.ConstantLR(optimizer)
    return {
        "nn.Module": torch.nn.Linear(1, 1),
        "utils.data.dataloader._BaseDataLoaderIter": iter(torch.utils.data.DataLoader([1])),
        "amp.GradScaler": torch.amp.GradScaler("cpu"),
        "optim.lr_scheduler.LRScheduler": constant,
        "optim.lr_scheduler.SequentialLR": torch.optim.lr_scheduler.SequentialLR(optimizer, [constant], []),
        "Tensor": parameter,
        "UntypedStorage": parameter.untyped_storage(),
        "autograd.graph.Node": (parameter * 2).grad_fn,
        "_ops.OpOverload": torch.ops.aten.add.Tensor,
    }


class PrivateNames(unittest.TestCase):
    def test_this_torch_has_every_name(self):
        self.assertEqual(capabilities.unavailable(), [])
        self.assertGreater(len(private.NAMES), 20)

    def test_a_name_that_torch_lost_is_said(self):
        private.NAMES["_C._gone"] = private.found("_C._gone")
        self.addCleanup(private.NAMES.pop, "_C._gone")
        self.assertEqual(capabilities.unavailable(), ["_C._gone"])

    def test_this_torch_has_every_attribute(self):
        objects = examples()
        for owner, names in private.ATTRIBUTES.items():
            thing = objects.get(owner, private.found(owner))
            for name in names:
                # DistributedDataParallel needs a process group: its source says what objects of it have.
                with self.subTest(owner=owner, name=name):
                    self.assertTrue(hasattr(thing, name) or name in written_by(thing))

    def test_only_a_version_that_counts_steps_otherwise_lacks_a_wrapped_step(self):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        self.assertFalse(private.is_counted_step(optimizer.step))
        torch.optim.lr_scheduler.ConstantLR(optimizer)
        self.assertTrue(private.is_counted_step(optimizer.step))

    def test_hooks_of_a_leaf_are_all_of_them(self):
        leaf = torch.ones(1, requires_grad=True)
        self.assertEqual(private.hooks_of(leaf), [])
        hooks = [lambda gradient: None, lambda tensor: None]
        leaf.register_hook(hooks[0])
        leaf.register_post_accumulate_grad_hook(hooks[1])
        self.assertEqual(private.hooks_of(leaf), hooks)


def written_by(owner):
    return set(owner.__init__.__code__.co_names) if isinstance(owner, type) else set()


if __name__ == "__main__":
    unittest.main()
