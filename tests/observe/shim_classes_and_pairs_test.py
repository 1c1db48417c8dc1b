"""Which class, which row and which noise: a program with a fault in each, and its twin without."""

import textwrap
import unittest

from tests.observe.twins import Twins

PARTS = {
    "MODE": ("bilinear", "nearest"),
    "TEACHERS": ("[2, 0, 1, 3]", "[0, 1, 2, 3]"),
    "EVALUATED": ("[1, 0, 2, 3]", "[0, 1, 2, 3]"),
    "POSITIVE": ("halves", "torch.arange(32) ^ 1"),
    "OFFSET": ("0", "50"),
    "NOISE": ("torch.randn_like(x0)", "noise"),
    "MOVED": ("point", "torch.stack([1 - point[0], point[1]])"),
    "BORDER": ("0.5", "0"),
    "ALONG": ("0", "1"),
}
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    from torch.utils.data import DataLoader, Dataset, TensorDataset
    torch.manual_seed(0)
    # Masks of classes 0, 1 and 4.
    masks = torch.tensor([0, 1, 4])[torch.randint(3, (32, 4, 4))].repeat_interleave(4, 1).repeat_interleave(4, 2)
    small = F.interpolate(masks[:, None].float(), size=(7, 7), mode="MODE").squeeze(1).long()
    cut = nn.Conv2d(1, 5, 1)
    # Four classes, a teacher that knows them, and data of an evaluation.
    centers = 3 * torch.randn(4, 6)
    labels = torch.arange(400) % 4
    points = centers[labels] + torch.randn(400, 6)
    sure = lambda x: -torch.cdist(x, centers[torch.tensor(TEACHERS)])
    student = nn.Linear(6, 4)
    named = torch.tensor(EVALUATED)[labels]
    check = DataLoader(TensorDataset(points[200:], named[200:]), batch_size=50)
    # Views that alternate.
    encoder, halves = nn.Linear(8, 8), (torch.arange(32) + 16) % 32
    # Users and items in one table.
    table, denoiser = nn.Embedding(90, 4), nn.Linear(4, 4)
    scorer = nn.Linear(6, 1)

    class Marks(Dataset):
        def __len__(self):
            return 8
        def __getitem__(self, number):
            generator = torch.Generator().manual_seed(number)
            image, point = torch.rand(1, 9, 9, generator=generator), torch.rand(2, generator=generator)
            if torch.rand(()) < 0.5:
                image, point = image.flip(-1), MOVED
            return image, point
    finder, loader = nn.Sequential(nn.Flatten(), nn.Linear(81, 2)), DataLoader(Marks(), batch_size=8)
    parts = nn.ModuleList([cut, student, encoder, table, denoiser, scorer, finder])
    optimizer = torch.optim.Adam(parts.parameters(), lr=0.05)
    binary = nn.BCEWithLogitsLoss()
    for step in range(40):
        rows = torch.randint(200, (64,))
        loss = F.cross_entropy(cut(small[rows % 32, None].float()), small[rows % 32])
        out = student(points[rows])
        loss = loss + F.cross_entropy(out, labels[rows])
        soft = sure(points[rows]).softmax(1)
        loss = loss + 0.01 * F.kl_div(out.log_softmax(1), soft, reduction="batchmean")
        loss = loss + 0.001 * F.cross_entropy(out, points[rows, :4].softmax(ALONG))
        both = torch.randn(16, 8).repeat_interleave(2, 0) + 0.1 * torch.randn(32, 8)
        z = F.normalize(encoder(both), dim=1)
        scores = (z @ z.t() / 0.5).fill_diagonal_(-1e9)
        loss = loss + F.cross_entropy(scores, POSITIVE)
        ids = torch.stack([torch.randint(50, (64,)), torch.randint(40, (64,)) + OFFSET], 1)
        loss = loss + table(ids).prod(1).sum(1).square().mean()
        x0 = torch.rand(128, 4)
        noise = torch.randn_like(x0)
        loss = loss + F.mse_loss(denoiser(0.7 * x0 + 0.7 * noise), NOISE)
        loss = loss + binary(scorer(points[rows]).squeeze(1), (labels[rows] > 1).float())
        for image, point in loader:
            loss = loss + F.mse_loss(finder(image), point)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for x, y in check:
            student(x)
        right = (scorer(points).squeeze(1) > BORDER) == (labels > 1)
    """
)


class ClassesAndPairs(Twins, unittest.TestCase):
    PROGRAM, PARTS = PROGRAM, PARTS
    QUANTITIES = ("made_classes", "teacher_classes", "evaluation_classes", "unlike_pairs", "shared_rows", "unrelated_noise",
                  "mirrored_samples", "score_threshold", "softmax_over_samples")  # fmt: skip

    def test_what_is_told_has_the_numbers_of_the_program(self):
        (positions, made), = self.told("made_classes")
        self.assertIn(made, (2, 3))
        (moved, share), = self.told("teacher_classes")
        self.assertTrue(moved == 3 and share > 0.9)
        (moved, share), = self.told("evaluation_classes")
        self.assertTrue(moved == 2 and share > 0.8)
        self.assertEqual(self.told("unlike_pairs"), [(32, 1)])
        self.assertEqual(self.told("shared_rows"), [(2, 90)])
        self.assertEqual(self.told("unrelated_noise"), [(4 * 512, 4)])


if __name__ == "__main__":
    unittest.main()
