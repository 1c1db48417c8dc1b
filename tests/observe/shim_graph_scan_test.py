"""A view in the place of a transpose and a softmax over the queries are read from the graph; views that keep
the axes, other uses of a softmax and torch's own code are not."""

import sys
import textwrap
import unittest

from tests.observe.reading import ROOT, python, run_unwatched, run_watched

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.autograd.rearranged import regroups, runs, swaps  # noqa: E402

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.queries, self.keys, self.values = (nn.Linear(24, 24) for _ in range(3))
        def split(self, x):
            return SPLIT
        def forward(self, x):
            q, k, v = self.split(self.queries(x)), self.split(self.keys(x)), self.split(self.values(x))
            weights = WEIGHTS
            return (weights @ v).transpose(1, 2).flatten(2)
    net = nn.Sequential(nn.Linear(3, 24), Attention(), nn.TransformerEncoderLayer(24, 4, 8, batch_first=True),
                        nn.Linear(24, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(5):
        optimizer.zero_grad()
        loss = net(torch.randn(6, 10, 3)).square().mean()
        loss.backward()
        optimizer.step()
    print(loss.item(), torch.rand(1).item())
    """
)
SPLIT, WEIGHTS = "x.reshape(6, 10, 4, 6).transpose(1, 2)", "(q @ k.transpose(2, 3) / 6**0.5).softmax(-1)"

UNSPLIT, OVER_QUERIES = "x.reshape(6, 4, 10, 6)", "(q @ k.transpose(2, 3)).softmax(-2)"


def program(split=SPLIT, weights=WEIGHTS):
    return PROGRAM.replace("SPLIT", split).replace("WEIGHTS", weights)


def run(**changes):
    return run_watched(python("-c", program(**changes)))


class Sizes(unittest.TestCase):
    def test_shapes_are_cut_into_the_shortest_runs_of_equal_product(self):
        self.assertEqual(runs([8, 10, 32], [8, 10, 4, 8]), [([8], [8]), ([10], [10]), ([32], [4, 8])])
        self.assertEqual(runs([8, 10, 32], [8, 32, 10]), [([8], [8]), ([10, 32], [32, 10])])

    def test_axes_that_trade_places_are_told_from_axes_that_are_split_or_merged(self):
        for before, after in (((8, 10, 32), (8, 32, 10)), ((8, 10, 32), (8, 4, 10, 8)), ((8, 4, 10, 8), (8, 10, 32)),
                              ((8, 3, 5, 7), (8, 35, 3)), ((2, 8, 32), (8, 64)), ((10, 8, 3), (8, 30))):  # fmt: skip
            self.assertTrue(swaps(before, after), (before, after))
        for before, after in (((8, 10, 32), (80, 32)), ((8, 1, 28, 28), (8, 784)), ((8, 10, 32), (8, 10, 4, 8)),
                              ((80, 4, 8), (8, 10, 32)), ((8, 64), (8, 4, 4, 4)),
                              ((6, 4), (3, 8)), ((8, 1, 5), (8, 5, 1)), ((0, 3), (0, 3))):  # fmt: skip
            self.assertFalse(swaps(before, after), (before, after))

    def test_axes_that_are_regrouped_may_have_the_sizes_of_a_swap(self):
        for before, after in (((12, 8, 32), (12, 32, 8)), ((12, 32, 8), (12, 8, 32))):
            self.assertTrue(regroups(before, after), (before, after))
        for before, after in (((8, 12, 16), (12, 8, 16)), ((8, 10, 32), (8, 4, 10, 8)), ((6, 10, 24), (6, 24, 10))):
            self.assertFalse(regroups(before, after), (before, after))


# As LibTorch's own layer does: the time first, the heads beside the samples, of which there are as many as features.
BESIDE, BACK = "x.transpose(0, 1).contiguous().view(10, 24, 6).transpose(0, 1)", \
               "return (weights @ v).transpose(0, 1).reshape(10, 6, 24).transpose(0, 1)"


class Watched(unittest.TestCase):
    def told(self, quantity, **changes):
        done = run(**changes)
        self.assertEqual(done.status, 0, done.err)
        return [(row.thing[2], row.value, row.site[1]) for row in done.main.of("quantity", quantity)]

    def test_heads_that_are_split_by_a_reshape_alone_are_told_with_their_line(self):
        self.assertEqual(self.told("swapped_sizes", split=UNSPLIT),
                         [("6x10x24 to 6x4x10x6", 1, "9")])

    def test_heads_that_are_put_beside_the_samples_are_not_told_unless_the_transpose_is_left_out(self):
        left_out, first = BACK.replace(".transpose(0, 1).reshape", ".reshape"), BESIDE.replace("x.transpose(0, 1)", "x")
        for split, back, found in ((BESIDE, BACK, []), (first, BACK, ["6x10x24 to 10x24x6"]),
                                   (BESIDE, left_out, ["24x10x6 to 10x6x24"])):  # fmt: skip
            text = program(split, "(q @ k.mT).softmax(-1)")
            text = text.replace("return (weights @ v).transpose(1, 2).flatten(2)", back)
            told = run_watched(python("-c", text)).main.of("quantity", "swapped_sizes")
            self.assertEqual([row.thing[2] for row in told], found, (split, back))

    def test_a_shift_of_relative_positions_is_not_told(self):
        shift = "(lambda r: F.pad(r, (1, 0)).view(6, 4, 11, 10)[:, :, 1:].reshape(6, 4, 10, 10))(q @ k.mT).softmax(-1)"
        again = "(lambda r: r.reshape(6, 4, 24, 10)[:, :, 1:].reshape(6, 4, 10, 23)[..., :10])(q @ (q.repeat(1, 1, 3, 1)" \
                "[:, :, :24]).mT).softmax(-1)"
        for weights in (shift, again):
            self.assertEqual(self.told("swapped_sizes", weights=weights), [], weights)

    def test_a_softmax_over_the_queries_is_told_with_its_line(self):
        for weights in (OVER_QUERIES, "F.softmax(q @ k.mT + 1, 2)",
                        "F.dropout((q @ k.mT).softmax(-2), 0.1)"):
            self.assertEqual(self.told("misdirected_softmax", weights=weights), [("attention", -2, "12")], weights)

    def test_a_softmax_over_the_heads_or_the_batch_is_told_with_its_axis(self):
        for axis in (-3, -4):
            weights = f"(q @ k.mT / 6**0.5).softmax({axis})"
            self.assertEqual(self.told("misdirected_softmax", weights=weights), [("attention", axis, "12")])

    def test_a_model_that_is_trained_later_is_looked_at_too(self):
        earlier = "first = nn.Linear(3, 1)\nsteps = torch.optim.SGD(first.parameters(), lr=0.1)\nfor step in range(9):\n" \
                  "    first(torch.randn(6, 3)).sum().backward()\n    steps.step()\n    steps.zero_grad()\n"
        later = program(weights=OVER_QUERIES).replace("torch.manual_seed(0)\n", "torch.manual_seed(0)\n" + earlier)
        rows = run_watched(python("-c", later)).main.of("quantity", "misdirected_softmax")
        self.assertEqual([row.value for row in rows], [-2])

    def test_attention_as_it_should_be_is_not_told_and_torchs_own_neither(self):
        self.assertEqual(self.told("swapped_sizes"), [])
        self.assertEqual(self.told("misdirected_softmax"), [])

    def test_weights_that_compete_and_are_normalized_again_are_not_told(self):
        competing = "(lambda w: w / w.sum(-1, keepdim=True))((q @ k.mT).softmax(-2))"
        self.assertEqual(self.told("misdirected_softmax", weights=competing), [])

    def test_what_the_program_prints_is_the_same(self):
        command = python("-c", program(split=UNSPLIT))
        self.assertEqual(run_watched(command).out, run_unwatched(command).out)


if __name__ == "__main__":
    unittest.main()
