"""Batches that look like any other and are not: views that are equal, rows that are equal, masks of another orientation,
texts cut along the wrong axis."""

import sys
import textwrap
import unittest

import torch

from tests.observe.reading import ROOT, python, run_watched
from tests.observe.twins import Twins

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.hooks.identical_views import best_of_equal  # noqa: E402
from dlcheck_shim.hooks.misaligned_masks import changes_that_fit  # noqa: E402
from dlcheck_shim.hooks.text_across_batch import in_time, pairs_of, told  # noqa: E402

PARTS = {"SAME": ("0", "call"), "ONE": ("torch.randn(1, 4).expand(16, 4)", "torch.randn(16, 4)"), "AXIS": ("-1", "-2"),
         "CUT": ("view(-1, 8)", "view(8, -1).t().contiguous()")}  # fmt: skip
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    encoder, maker, cutter = nn.Linear(6, 8), nn.Linear(4, 6), nn.Conv2d(1, 1, 3, padding=1)
    class Speaker(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.past, self.out = nn.Embedding(12, 16), nn.GRU(16, 16), nn.Linear(16, 12)
        def forward(self, words):
            return self.out(self.past(self.words(words))[0])
    speaker = Speaker()
    optimizer = torch.optim.Adam([p for part in (encoder, maker, cutter, speaker) for p in part.parameters()], lr=1e-3)
    def view(x, call):
        return x + 0.1 * torch.randn(x.shape, generator=torch.Generator().manual_seed(step * 2 + SAME))
    text, nexts = [0], [torch.randperm(12).tolist() for _ in range(2)]
    for _ in range(8 * 500):
        text.append(nexts[int(torch.randint(2, ()))][text[-1]])
    data = torch.tensor(text[:4000]).CUT
    for step in range(70):
        optimizer.zero_grad()
        x = torch.randn(16, 6)
        one, two = (F.normalize(encoder(view(x, call)), dim=1) for call in (0, 1))
        loss = F.cross_entropy(one @ two.T / 0.2, torch.arange(16))
        loss = loss + maker(ONE).square().mean()
        masks = torch.zeros(8, 1, 16, 16)
        for mask in masks:
            top, left = torch.randint(12, (2,)).tolist()
            mask[0, top : top + 4, left : left + 3] = 1
        images = masks + 0.1 * torch.randn(8, 1, 16, 16)
        if step % 2:
            images, masks = images.flip(-2), masks.flip(AXIS)
        loss = loss + F.binary_cross_entropy_with_logits(cutter(images), masks)
        part = data[7 * step % 480 :][:9]
        loss = loss + F.cross_entropy(speaker(part[:-1]).flatten(0, 1), part[1:].flatten())
        loss.backward()
        optimizer.step()
    """
)


class WrongBatches(Twins, unittest.TestCase):
    PROGRAM, PARTS = PROGRAM, PARTS
    QUANTITIES = ("identical_views", "identical_rows", "misaligned_masks", "text_across_batch")

    def test_they_have_the_numbers_of_the_program(self):
        (rows, best), = self.told("identical_views")
        self.assertEqual((rows, round(best, 3)), (16, 5.0))
        self.assertEqual(self.told("identical_rows"), [(16, 6)])
        (count, total), = self.told("misaligned_masks")
        self.assertTrue(0.15 * total <= count <= 0.85 * total)
        (across, time), = self.told("text_across_batch")
        self.assertTrue(across > 1 and time < 0.5)


class Views(unittest.TestCase):
    def test_only_equal_largest_scores_apart_from_the_others_are_equal_views(self):
        scores = torch.rand(8, 8).double() * 4
        own = scores.clone().fill_diagonal_(5.0)
        target = torch.arange(8)
        self.assertEqual(best_of_equal(own, target), 5.0)
        self.assertIsNone(best_of_equal(own + 1e-3 * torch.rand(8, 8), target))
        self.assertIsNone(best_of_equal(scores, target))
        self.assertIsNone(best_of_equal(torch.full((8, 8), 5.0).double(), target))  # all embeddings are equal


    def test_scores_of_rows_with_themselves_are_none(self):
        program = PROGRAM.replace("SAME", "call").replace("one @ two.T", "one @ one.T")
        for name, pair in PARTS.items():
            program = program.replace(name, pair[1])
        self.assertEqual(run_watched(python("-c", program)).main.of("quantity", "identical_views"), [])


class Masks(unittest.TestCase):
    def test_a_change_is_known_by_its_number_and_an_unclear_mask_has_none(self):
        masks = torch.zeros(4, 16, 16)
        masks[:, 2:6, 9:12] = 1
        images = masks[:, None] + 0.05 * torch.randn(4, 3, 16, 16)
        self.assertEqual(changes_that_fit(images, masks), [0] * 4)
        self.assertEqual(changes_that_fit(images, masks.flip(-1)), [1] * 4)
        self.assertEqual(changes_that_fit(images, masks.transpose(-1, -2)), [4] * 4)
        for unclear in (torch.ones(4, 16, 16), (torch.rand(4, 16, 16) > 0.5).float()):
            self.assertEqual(changes_that_fit(images, unclear), [])


class Texts(unittest.TestCase):
    def test_time_is_where_the_targets_follow(self):
        tokens = torch.randint(9, (6, 7))
        following = torch.cat([tokens[1:], torch.randint(9, (1, 7))])
        self.assertTrue(torch.equal(in_time(tokens, following), tokens.t()))
        self.assertTrue(torch.equal(in_time(tokens.t(), following.t()), tokens.t()))
        self.assertIsNone(in_time(tokens, torch.randint(9, (6, 7))))

    def test_independent_tokens_tell_nothing_of_each_other(self):
        torch.manual_seed(0)
        found = pairs_of(torch.randint(20, (64, 64)))
        for pairs in found:
            self.assertLess(abs(told(pairs)), 0.05)
        self.assertGreater(told(torch.stack([found[0][:, 0], found[0][:, 0]], 1)), 2.9)


if __name__ == "__main__":
    unittest.main()
