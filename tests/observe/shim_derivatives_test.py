"""A trial measures the slope of a program's own autograd function, and tells what it cannot judge."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch
    from torch import nn

    class Swish(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x.sigmoid()
        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            s = x.sigmoid()
            return BACKWARD

    def passing(name, forward):
        parts = {"forward": staticmethod(lambda ctx, x: forward(x)),
                 "backward": staticmethod(lambda ctx, g: -g)}
        return type(name, (torch.autograd.Function,), parts)

    legal = [
        passing("Reversed", lambda x: x.view_as(x)),
        passing("Rounded", lambda x: x.round()),
        passing("Sign", lambda x: x.sign() * x.abs().mean()),
        passing("Bounded", lambda x: x.clamp(-1, 1)),
        passing("Spike", lambda x: (x > 0).float()),
        passing("Noise", lambda x: x * 0 + 1),
    ]
    torch.manual_seed(0)
    first, last = nn.Linear(8, 32), nn.Linear(32, 1)
    optimizer = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=1e-2)
    x = torch.randn(64, 8)
    for step in range(6):
        h = Swish.apply(first(x))
        for function in legal:
            h = h + 0.01 * function.apply(h)
        loss = nn.functional.mse_loss(last(h), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
    print(torch.rand(1).item())
    """
)
RIGHT = "g * (s + x * s * (1 - s))"


def trials(backward):
    command = python("-c", PROGRAM.replace("BACKWARD", backward))
    run = run_watched(command, experiment="trials", steps=8)
    assert run.status == 0, run.err
    return run


def of_swish(run, quantity):
    return [row for row in run.main.of("quantity", quantity) if row.thing[2] == "Swish"]


class Derivatives(unittest.TestCase):
    def test_a_right_backward_is_the_slope_to_nine_digits(self):
        errors = of_swish(trials(RIGHT), "backward_error")
        self.assertEqual(len(errors), 5)  # not before the weights moved once
        for row in errors:
            self.assertLess(row.value, 1e-8)
            self.assertLess(row.aux, 1e-8)
            self.assertEqual(row.site[2], "backward")

    def test_a_wrong_one_is_off_by_its_factor(self):
        for row in of_swish(trials(f"2 * {RIGHT}"), "backward_ratio"):
            self.assertAlmostEqual(row.value, 2, places=6)
        for row in of_swish(trials("g * (s + x * s)"), "backward_error"):
            self.assertGreater(row.value, 1e-2)

    def test_what_may_mean_to_be_no_slope_is_told_and_not_measured(self):
        run = trials(RIGHT)
        self.assertEqual({row.thing[2] for row in run.main.of("quantity", "backward_error")}, {"Swish"})
        said = {t[2]: a.get("untried") for t, a in run.main.attributes.items() if t[0] == "function"}
        self.assertEqual(said["Reversed"], "its forward hands its input on")
        self.assertEqual(said["Bounded"], "its forward hands its input on")
        for name in ("Rounded", "Sign", "Noise"):
            self.assertEqual(said[name], "its forward gives few different values")
        self.assertIn("double precision", said["Spike"])

    def test_training_goes_on_as_without_it(self):
        alone = run_watched(python("-c", PROGRAM.replace("BACKWARD", RIGHT)), experiment="same_seed")
        self.assertEqual(trials(RIGHT).out, alone.out)


if __name__ == "__main__":
    unittest.main()
