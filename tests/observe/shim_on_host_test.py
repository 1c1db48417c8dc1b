"""What lies on an accelerator is copied to the host for looks that read numbers: they see the same, and the program ends
with the same bits. Without an accelerator, tensors of the CPU pass for its own."""

import sys
import textwrap
import unittest
from unittest import mock

import torch

from tests.observe.reading import ROOT, python, run_unwatched, run_watched

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.torch_api import on_host  # noqa: E402

# Every tensor counts as one of an accelerator, and so does the number of targets.
PRETENDED = """
import sys
if "dlcheck_shim" in sys.modules:
    import torch
    from dlcheck_shim.hooks import loss
    from dlcheck_shim.torch_api import on_host
    on_host.is_elsewhere = lambda tensor: True
    LEFT
    at_once = loss.LossHooks.count_targets
    loss.LossHooks.count_targets = lambda *given: torch.tensor(at_once(*given))
"""
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Text(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = nn.Embedding(20, 16), nn.Linear(16, 20)
        def forward(self, tokens):
            x = self.table(tokens)[:, None]
            return self.head(F.scaled_dot_product_attention(x, x, x)[:, 0])
    net, side = Text(), nn.Linear(4, 3)
    optimizer = torch.optim.SGD([*net.parameters(), *side.parameters()], lr=0.1)
    for step in range(8):
        optimizer.zero_grad()
        for part in range(2):
            tokens = torch.randint(20, (6, 9))
            F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
            (F.cross_entropy(side(torch.randn(30, 4)), torch.arange(30) % 2) / 2).backward()
        optimizer.step()
    print(sum(p.double().sum().item() for p in net.parameters()), torch.rand(1).item())
    """
)
# Of these quantities all rows: what is said of targets, tokens and attention.
LOOKED_AT = ("weight_of_next_token", "target_shift", "loss_share", "unused_class", "counted_targets")


class ShimOnHost(unittest.TestCase):
    def rows(self, run):
        self.assertEqual([key for key in run.main.process if "failed" in key], [], run.err)
        return {(name, row.step, row.micro_step, row.value, row.aux)
                for name in LOOKED_AT for row in run.main.of("quantity", name)}  # fmt: skip

    def pretended(self, left=""):
        run = run_watched(python("-c", PRETENDED.replace("LEFT", left) + PROGRAM))
        self.assertEqual(run.out, run_unwatched(python("-c", PROGRAM)).out)
        return self.rows(run)

    def test_looks_at_copies_find_the_same(self):
        found = self.rows(run_watched(python("-c", PROGRAM)))
        self.assertEqual({name for name, *_ in found}, set(LOOKED_AT))
        self.assertEqual(self.pretended(), found)

    def test_after_the_last_copy_the_tensor_itself_is_given(self):
        self.assertTrue(self.pretended("on_host.Copies.left = 3"))
        said = PRETENDED.replace("LEFT", "on_host.Copies.left = 1") + textwrap.dedent(
            """
            if "dlcheck_shim" in sys.modules:
                some, other = torch.ones(3), torch.ones(3)
                first = on_host.on_host(some)
                assert first is not some and on_host.on_host(some) is first and on_host.on_host(other) is other
                some += 1
                assert on_host.on_host(some) is some
            """
        )
        self.assertEqual(run_watched(python("-c", said)).status, 0)


class AtHand(unittest.TestCase):
    """A tensor without numbers passes for one of a device."""

    far = torch.empty(8, device="meta")

    def test_a_tensor_of_the_cpu_is_of_any_size(self):
        self.assertTrue(on_host.is_at_hand(torch.ones(8), most=4))

    def test_one_of_another_device_than_cuda_is_none(self):
        self.assertFalse(on_host.is_at_hand(self.far))

    def test_one_of_cuda_is_where_it_is_small_and_a_look_may_wait(self):
        with mock.patch.object(on_host, "is_elsewhere", lambda tensor: True):
            self.assertTrue(on_host.is_at_hand(self.far))
            self.assertFalse(on_host.is_at_hand(self.far, most=4))
            with mock.patch.object(on_host, "tells_of_waits", lambda: True):
                self.assertFalse(on_host.is_at_hand(self.far))
            with mock.patch.object(on_host.tensors, "may_compute", lambda: False):
                self.assertFalse(on_host.is_at_hand(self.far))


if __name__ == "__main__":
    unittest.main()
