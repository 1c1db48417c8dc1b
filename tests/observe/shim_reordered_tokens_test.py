"""Targets that are the following tokens, but of other rows or positions, are told; those of other tasks are not."""

import sys
import textwrap
import unittest

import torch

from tests.observe.reading import ROOT, python, run_watched

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.hooks.reordered_tokens import misplaced_targets  # noqa: E402

TEXTS = torch.randint(12, (8, 9), generator=torch.Generator().manual_seed(0))
ORDER = torch.randperm(8, generator=torch.Generator().manual_seed(1))
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(12, 8), nn.Linear(8, 12))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(8):
        text = torch.randint(12, (8, 9))
        optimizer.zero_grad()
        F.cross_entropy(net(text[:, :-1]).flatten(0, 1), TARGET).backward()
        optimizer.step()
    """
)


def misplaced(targets, tokens=TEXTS[:, :-1]):
    return misplaced_targets(tokens, targets, -100)


def stated(target):
    rows = run_watched(python("-c", PROGRAM.replace("TARGET", target))).main.of("quantity", "reordered_targets")
    return [(row.value > 6 * 50, row.aux) for row in rows]


class ReorderedTokens(unittest.TestCase):
    def test_following_tokens_are_in_place(self):
        self.assertEqual(misplaced(TEXTS[:, 1:]), 0)
        self.assertEqual(misplaced(TEXTS[:, 1:].flatten()), 0)

    def test_rows_in_another_order_are_misplaced_as_a_whole(self):
        moved = int((ORDER != torch.arange(8)).sum())
        self.assertEqual(misplaced(TEXTS[ORDER, 1:]), 8 * moved)
        self.assertEqual(misplaced(TEXTS[:, 1:].roll(1, 0)), 64)

    def test_flat_targets_that_were_rolled_or_shuffled_are_misplaced(self):
        self.assertGreater(misplaced(TEXTS[:, 1:].flatten().roll(1, 0)), 40)
        self.assertGreater(misplaced(TEXTS[:, 1:].flatten()[torch.randperm(64)]), 40)

    def test_tokens_in_another_order_within_their_rows_are_another_task(self):
        self.assertEqual(misplaced(TEXTS.sort(1).values, TEXTS), 0)
        self.assertEqual(misplaced(TEXTS.flip(1), TEXTS), 0)

    def test_other_targets_and_targets_that_are_the_tokens_are_none(self):
        self.assertEqual(misplaced(torch.randint(12, (8, 8), generator=torch.Generator().manual_seed(2))), 0)
        self.assertEqual(misplaced(TEXTS, TEXTS), 0)
        self.assertEqual(misplaced(TEXTS[:, 0]), 0)

    def test_ignored_targets_say_nothing(self):
        self.assertEqual(misplaced(TEXTS[ORDER, 1:].masked_fill(torch.arange(8) == 7, -100)), 0)

    def test_a_program_that_reorders_is_told_once(self):
        self.assertEqual(stated("text[:, 1:].flatten().roll(1)"), [(True, 6 * 64)])
        self.assertEqual(stated("text[:, 1:].flatten()"), [])


if __name__ == "__main__":
    unittest.main()
