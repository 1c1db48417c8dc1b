"""What losses are given: log-probabilities or scores that nothing normalized, and targets that the
outputs can come to."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x - 1
        @staticmethod
        def backward(ctx, g):
            return g

    net = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(4):
        x, kinds = torch.rand(SHAPE), torch.randint(3, TARGETS)
        optimizer.zero_grad()
        F.nll_loss(SCORES, kindsREDUCED).backward()
        optimizer.step()
    """
)


def given(scores, shape="8, 6", targets="(8,)", reduced=""):
    """What is written of the loss: the shares of log-probabilities, and what normalizes."""
    source = PROGRAM.replace("SCORES", scores).replace("SHAPE", shape).replace("TARGETS", targets)
    run = run_watched(python("-c", source.replace("REDUCED", reduced)))
    assert run.status == 0, run.err
    rows = run.main.of("quantity", "log_probability_rows")
    said = run.main.attributes[("loss", "0", "nll_loss")]
    return [row.value for row in rows], said.get("normalized_by", "")


class ShimScores(unittest.TestCase):
    def test_log_probabilities_of_any_shape(self):
        for scores, shape, targets in (
            ("net(x).log_softmax(1)", "8, 6", "(8,)"),
            ("net(x).log_softmax(-1).movedim(-1, 1)", "4, 5, 6", "(4, 5)"),
            ("net(x).softmax(1).log()", "8, 6", "(8,)"),
        ):
            with self.subTest(scores=scores):
                shares, by = given(scores, shape, targets)
                self.assertEqual(shares, [1.0] * 4)
                self.assertRegex(by, "Log")

    def test_scores(self):
        shares, by = given("10 * net(x)")
        self.assertLess(max(shares), 0.5)
        self.assertEqual(by, "")

    def test_a_weight_after_the_logarithm_leaves_it_known(self):
        shares, by = given("net(x).log_softmax(1) * torch.arange(8)[:, None]")
        self.assertLess(max(shares), 0.5)
        self.assertRegex(by, "LogSoftmax")

    def test_a_function_of_the_programs_own_may_normalize(self):
        self.assertEqual(given("Own.apply(net(x))")[1], "OwnBackward")

    def test_nothing_of_a_loss_that_is_not_reduced(self):
        self.assertEqual(given("net(x)", reduced=", reduction='none').mean(")[0], [])


class ShimTargets(unittest.TestCase):
    def outside(self, loss):
        """The share of targets out of reach, of each step; targets are the numbers 0 to 2, and -2."""
        program = PROGRAM.replace("SHAPE", "8, 6").replace("TARGETS", "(8,)")
        begin = "wanted = torch.tensor([0., 1, 2, -2]).repeat(2)[:, None].expand(8, 3)\n    "
        program = program.replace("optimizer.zero_grad()", begin + "optimizer.zero_grad()")
        run = run_watched(python("-c", program.replace("F.nll_loss(SCORES, kindsREDUCED)", loss)))
        assert run.status == 0, run.err
        return [row.value for row in run.main.of("quantity", "unreachable_targets")]

    def test_the_last_activation_bounds_what_numbers_can_be_met(self):
        for made, share in (("sigmoid()", 0.5), ("tanh()", 0.5), ("relu()", 0.25), ("log_softmax(1)", 0.5)):
            with self.subTest(made=made):
                self.assertEqual(self.outside(f"F.mse_loss(net(x).{made}, wanted)"), [share] * 4)

    def test_outputs_that_go_on_from_there_are_not_bounded(self):
        self.assertEqual(self.outside("F.l1_loss(3 * net(x).tanh(), wanted)"), [])

    def test_labels_of_two_classes_are_between_0_and_1(self):
        binary = "F.binary_cross_entropy_with_logits(net(x), %s)"
        self.assertEqual(self.outside(binary % "wanted"), [0.5] * 4)
        self.assertEqual(self.outside(binary % "wanted.clamp(0, 1) * 1.2"), [0.0] * 4)


if __name__ == "__main__":
    unittest.main()
