"""Steps of unusual kinds: the program goes on as it does alone, and the probe still sees it."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

START = textwrap.dedent(
    """
    import torch, torch.nn.functional as F
    torch.manual_seed(1)
    x, y = torch.randn(8, 3), torch.randint(2, (8,))
    """
)
SCALED_STEP = START + textwrap.dedent(
    """
    class Scaled(torch.optim.SGD):
        def step(self, scale=1.0):
            with torch.no_grad():
                for p in self.param_groups[0]["params"]:
                    p.sub_(p.grad, alpha=0.1 * scale)
    model = torch.nn.Linear(3, 2)
    optimizer = Scaled(model.parameters(), lr=0.1)
    for step in range(5):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step(0.5)
    print(model.weight.tolist())
    """
)
REPLACED = START + textwrap.dedent(
    """
    model = torch.nn.Linear(3, 2)
    kept = None
    for kind in (torch.optim.Adam, torch.optim.Adam, torch.optim.Adam, torch.optim.RMSprop):
        optimizer = kind(model.parameters(), lr=0.1)
        if kept and len(kept["state"]) == 2:
            optimizer.load_state_dict(kept["optimizer"])
        for step in range(5):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        kept = {"optimizer": optimizer.state_dict(), "state": [*(kept["state"] if kept else []), 1]}
    """
)
COMPLEX = START + textwrap.dedent(
    """
    weight = torch.nn.Parameter(torch.randn(4, dtype=torch.cfloat))
    optimizer = torch.optim.Adam([weight], lr=0.01)
    def closure():
        optimizer.zero_grad()
        loss = (weight - 1j).abs().square().mean()
        loss.backward()
        return loss
    for step in range(80):
        {step}
    print(weight.tolist())
    """
)
RAISES = START + textwrap.dedent(
    """
    def broken():
        raise ValueError
    other = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        for retry in range(step % 2):
            try:
                other.step(broken)
            except ValueError:
                pass
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    """
)
POSITIONAL = START + textwrap.dedent(
    """
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    y[:4] = 7
    F.cross_entropy(model(x), y, None, None, 7, None, "mean", 0.25).backward()
    optimizer.step()
    """
)
SPREADS = START + textwrap.dedent(
    """
    model = torch.nn.Sequential(torch.nn.Linear(3, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    for step in range(150):
        optimizer.zero_grad()
        hidden = model[0](x)
        part = (hidden * 0).sum().sqrt() if step == 140 else 0  # its gradient is not finite
        F.cross_entropy(model[2](torch.relu(hidden)) + part, y).backward()
        optimizer.step()
    """
)


# The square of the gradient of step 3 overflows, so Adam's second moment is infinite and nothing moves.
OVERFLOWING = START + textwrap.dedent(
    """
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for step in range(6):
        optimizer.zero_grad()
        (F.cross_entropy(model(x), y) * (1e25 if step == 3 else 1)).backward()
        optimizer.step()
    print(model.weight.tolist())
    """
)


class ShimSteps(unittest.TestCase):
    def both(self, program):
        alone = run_unwatched(python("-c", program))
        watched = run_watched(python("-c", program))
        self.assertEqual((watched.status, watched.out), (0, alone.out), watched.err)
        return watched.main

    def test_an_argument_that_is_no_closure_is_handed_on(self):
        main = self.both(SCALED_STEP)
        self.assertEqual(len(main.of("quantity", "update_norm")), 10)
        run = run_watched(python("-c", SCALED_STEP), experiment="reference")
        self.assertEqual(run.status, 0, run.err)

    def test_a_step_whose_squared_gradient_overflows_is_not_compared_with_the_rule(self):
        rows = self.both(OVERFLOWING).of("quantity", "update_error")
        self.assertEqual({row.step for row in rows}, {0, 1, 2})  # then nothing moves any more
        self.assertTrue(all(row.value <= row.aux for row in rows), rows)

    def test_complex_weights_are_measured(self):
        for step in ("optimizer.step(closure)", "closure(); optimizer.step()"):
            main = self.both(COMPLEX.format(step=step))
            norms = [row for row in main.of("quantity", "gradient_norm") if row.step < 64]
            self.assertEqual(len(norms), 64)

    def test_a_step_that_raised_blinds_nobody(self):
        main = self.both(RAISES)
        self.assertEqual([row.step for row in main.of("event", "step")], list(range(5)))
        self.assertEqual(len(main.of("event", "uncleared")), 4)

    def test_options_without_a_name_are_understood(self):
        main = self.both(POSITIONAL)
        (initial,) = main.of("quantity", "initial_loss")
        self.assertEqual(initial.aux, 4)
        loss = main.attributes[("loss", "0", "cross_entropy")]
        self.assertEqual(loss["label_smoothing"], "0.25")

    def test_a_gradient_that_is_not_finite_below_the_head_is_kept(self):
        found = [row for row in self.both(SPREADS).of("quantity", "gradient_norm")
                 if row.aux and row.step == 140]  # fmt: skip
        self.assertEqual({row.thing[1:] for row in found}, {("0", "weight"), ("0", "bias")})

    def test_an_optimizer_that_takes_the_place_of_one_like_it_is_said(self):
        run = run_watched(python("-c", REPLACED))
        found = {thing[1]: values.get("replaces") for thing, values in run.main.attributes.items()
                 if thing[0] == "optimizer"}  # fmt: skip
        # The third got the state of the second, the fourth is of another class.
        self.assertEqual(found, {"0": None, "1": "0", "2": None, "3": None})


if __name__ == "__main__":
    unittest.main()
