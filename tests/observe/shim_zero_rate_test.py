"""At a learning rate of 0 weights that are scaled by it stay, and what moves them otherwise is seen."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch
    BEFORE
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 1)
    optimizer = torch.optim.OPTIMIZER
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for step in range(16):
        layer(torch.ones(5, 4)).square().mean().backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        with torch.no_grad():
            AFTER
    """
)
ADAM = "Adam(layer.parameters(), lr=0.1, weight_decay=0.1)"


COMPARED = 8  # steps: of twelve, without four in which projections come to rest


def trace_of(after="pass", optimizer=ADAM, before=""):
    source = PROGRAM.replace("AFTER", after).replace("OPTIMIZER", optimizer).replace("BEFORE", before)
    run = run_watched(python("-c", source), experiment="zero_rate", steps=96)
    assert run.status == 0, run.err
    return run.main


def moved(trace):
    return {row.thing[2] for row in trace.of("quantity", "unscaled_change")}


class ShimZeroRate(unittest.TestCase):
    def test_optimizers_of_torch_rest(self):
        for optimizer in (ADAM, "SGD(layer.parameters(), lr=torch.tensor(0.1), momentum=0.9)",
                          "ASGD(layer.parameters(), lr=0.1)", "Adafactor(layer.parameters())"):  # fmt: skip
            trace = trace_of(optimizer=optimizer)
            self.assertEqual(moved(trace), set(), optimizer)
            counts = [(row.value, row.aux) for row in trace.of("quantity", "rested_parameters")]
            self.assertEqual(counts, [(2, 0)] * COMPARED, optimizer)

    def test_the_program_finds_its_rates_as_it_left_them(self):
        halved = "assert optimizer.param_groups[0]['lr'] == 0.1 * 0.5 ** (step + 1)"
        self.assertEqual(len(trace_of(halved).of("quantity", "rested_parameters")), COMPARED)

    def test_what_comes_to_rest_is_not_told(self):
        largest = "layer.weight.clamp_(-0.3, 0.3)"
        self.assertEqual(moved(trace_of(largest)), set())

    def test_decay_by_hand(self):
        trace = trace_of("layer.weight.mul_(0.999)")
        self.assertEqual(moved(trace), {"weight"})
        for row in trace.of("quantity", "unscaled_change"):
            self.assertAlmostEqual(row.value, 1e-3, delta=3e-4)
        for row in trace.of("quantity", "unscaled_direction"):
            self.assertAlmostEqual(row.value, -1, places=5)
        self.assertEqual(trace.attributes["optimizer", "0", ""]["changed_between_steps"], "1")

    def test_a_step_that_does_not_read_its_rate(self):
        own = ("class Own(torch.optim.SGD):\n"
               "    def step(self):\n"
               "        for p in self.param_groups[0]['params']:\n"
               "            p.data -= 0.01 * p.grad\n"
               "torch.optim.Own = Own")  # fmt: skip
        trace = trace_of(optimizer="Own(layer.parameters(), lr=0.1)", before=own)
        self.assertEqual(moved(trace), {"weight", "bias"})
        self.assertNotIn("changed_between_steps", trace.attributes["optimizer", "0", ""])

    def test_draws_are_told(self):
        trace = trace_of("layer.weight.add_(0.01 * torch.randn(1, 4))")
        self.assertEqual({row.aux for row in trace.of("quantity", "rested_parameters")}, {1.0})

    def test_step_sizes_of_its_own_are_not_judged(self):
        trace = trace_of(optimizer="Rprop(layer.parameters(), lr=0.1)")
        self.assertIn("step sizes", trace.attributes["optimizer", "0", ""]["untried/zero_rate"])


if __name__ == "__main__":
    unittest.main()
