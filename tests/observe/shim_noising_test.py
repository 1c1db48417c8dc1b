"""With which factors the data and the noise of a denoiser were added, and whether it is told how much noise there is."""

import sys
import textwrap
import unittest

import torch

from tests.observe.reading import ROOT
from tests.observe.twins import Twins

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.hooks.noising import DATA, NOISE, kind_of  # noqa: E402

PROGRAM = textwrap.dedent(
    """
    import torch
    torch.manual_seed(0)
    class Denoiser(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.time = torch.nn.Linear(24, 24), torch.nn.Embedding(50, 24)
        def forward(self, x, t):
            return self.inner(x) + self.time(t)
    model = Denoiser()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = torch.linspace(0.98, 0.02, 50)
    for step in range(4):
        pictures, t = torch.rand(64, 24), torch.randint(50, (64,))
        noise, share = torch.randn(64, 24), kept[t][:, None]
        noisy = share.sqrt() * (2 * pictures - 1) + FACTOR * noise
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(noisy, STEP), noise).backward()
        optimizer.step()
    """
)


class Noising(Twins, unittest.TestCase):
    PROGRAM = PROGRAM
    PARTS = {"FACTOR": ("(1 - share)", "(1 - share).sqrt()"), "STEP": ("torch.randint(50, (64,))", "t")}
    QUANTITIES = ("noise_factor", "wrong_time_step")

    def test_they_say_which_factor_of_how_many_samples(self):
        self.assertEqual(self.told("noise_factor"), [(NOISE, 64)])
        (samples, linked), = self.told("wrong_time_step")
        self.assertEqual(samples, 64)
        self.assertLess(linked, 0.5)


class Kinds(unittest.TestCase):
    def test_other_ways_to_add_noise_are_passed_over(self):
        t = torch.linspace(0.02, 0.98, 30).double()
        ways = {"roots": (t.sqrt(), (1 - t).sqrt()), "flow": (t, 1 - t), "more and more": (torch.ones(30), 5 * t),
                "cosine": (torch.cos(1.5 * t), torch.sin(1.5 * t)), "one level": (0.8 * torch.ones(30), 0.6 * torch.ones(30))}  # fmt: skip
        for name, (data, noise) in ways.items():
            with self.subTest(name=name):
                self.assertEqual((kind_of(data, noise), kind_of(2 * data, noise)), (0, 0))
        self.assertEqual((kind_of(2 * t.sqrt(), 1 - t), kind_of(3 * t, (1 - t).sqrt())), (NOISE, DATA))


if __name__ == "__main__":
    unittest.main()
