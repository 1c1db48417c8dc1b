"""Gradients that were not cleared are seen on the gradients themselves; clearing takes many
forms."""

import textwrap
import unittest

from tests.observe.plant import planted
from tests.observe.reading import DIGITS, python, run_watched

LOOP = textwrap.dedent(
    """
    import torch
    torch.manual_seed(1)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(80):
        for part in range({parts}):
            model(torch.randn(4, 3)).square().mean().backward()
        {clip}
        optimizer.step()
        {clear}
    """
)
GAN = textwrap.dedent(
    """
    import torch
    torch.manual_seed(1)
    maker, judge = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
    of_maker = torch.optim.SGD(maker.parameters(), lr=0.1)
    of_judge = torch.optim.SGD(judge.parameters(), lr=0.1)
    for step in range(40):
        {clear}
        (judge(torch.randn(4, 3)) - judge(maker(torch.randn(4, 2)).detach())).mean().backward()
        of_judge.step()
        of_maker.zero_grad()
        judge(maker(torch.randn(4, 2))).mean().backward()
        of_maker.step()
    """
)
CLEAN = {
    "to none": "optimizer.zero_grad()",
    "in place": "optimizer.zero_grad(set_to_none=False)",
    "of the model": "model.zero_grad()",
    "by hand": "for p in model.parameters(): p.grad = None",
    "through data": "for p in model.parameters(): p.grad.data.zero_()",
    "by multiplying": "for p in model.parameters(): p.grad.mul_(0)",
}


def uncleared(source):
    main = run_watched(python("-c", source)).main
    return main.of("event", "uncleared"), main.of("gap", "uncleared")


class ShimClearing(unittest.TestCase):
    def test_every_way_to_clear_is_clearing(self):
        for name, clear in CLEAN.items():
            events, gaps = uncleared(LOOP.format(parts=2, clip="", clear=clear))
            self.assertEqual((len(events), len(gaps)), (0, 0), name)

    def test_gradients_that_stay_are_counted(self):
        for parts in (1, 2):
            events, _ = uncleared(LOOP.format(parts=parts, clip="", clear=""))
            self.assertEqual([row.value for row in events], [2.0] * (len(events)))
            self.assertEqual([row.step for row in events][:63], list(range(1, 64)))

    def test_clipping_is_not_clearing(self):
        clip = "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)"
        events, _ = uncleared(LOOP.format(parts=1, clip=clip, clear=""))
        self.assertGreater(len(events), 63)

    def test_clearing_one_parameter_of_two_leaves_one(self):
        events, _ = uncleared(LOOP.format(parts=1, clip="", clear="model.bias.grad = None"))
        self.assertEqual({row.value for row in events}, {1.0})

    def test_gradients_cleared_before_their_own_next_use_are_clean(self):
        for clear in ("of_judge.zero_grad()", "of_judge.zero_grad(set_to_none=False)",
                      "[p.grad.data.zero_() for p in judge.parameters() if p.grad is not None]"):
            events, gaps = uncleared(GAN.format(clear=clear))
            self.assertEqual((len(events), len(gaps)), (0, 0), clear)

    def test_gradients_never_cleared_among_two_optimizers_are_seen(self):
        events, _ = uncleared(GAN.format(clear="pass"))
        self.assertEqual({row.owner for row in events}, {("optimizer", "0", "")})

    def test_what_is_held_is_what_was_consumed(self):
        source = planted("plain", "optimizer/stale_gradients")
        main = run_watched(python("-c", source, DIGITS)).main
        consumed = {(r.thing, r.step): r.value for r in main.of("quantity", "gradient_norm")}
        held = [row for row in main.of("quantity", "held_gradient_norm") if row.step < 64]
        self.assertEqual(len(held), 4 * 63)
        for row in held:
            self.assertEqual(row.value, consumed[(row.thing, row.step - 1)])
        self.assertGreater(sum(row.value for row in main.of("gap", "uncleared")), 0)


if __name__ == "__main__":
    unittest.main()
