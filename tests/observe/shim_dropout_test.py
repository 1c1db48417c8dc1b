"""Dropout functions that the program calls in evaluation mode are counted where they drop, and nowhere else."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.drop, self.head = nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1)
        def forward(self, x):
            x = self.layer(x)
            x = CALL
            return self.head(x)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(4):
        net.train()
        optimizer.zero_grad(); net(torch.ones(3, 4)).mean().backward(); optimizer.step()
        net.eval(); SWITCH
        with torch.no_grad():
            print(net(torch.ones(3, 4)).sum().item())
    """
)


def program(call, switch="pass"):
    return PROGRAM.replace("CALL", call).replace("SWITCH", switch)


def run(call, switch="pass"):
    return run_watched(python("-c", program(call, switch)))


class ShimDropout(unittest.TestCase):
    def told(self, call, switch="pass"):
        done = run(call, switch)
        self.assertEqual(done.status, 0, done.err)
        return [(row.value, row.aux, row.site[1]) for row in done.main.of("quantity", "evaluation_dropout")]

    def test_a_call_with_the_default_is_told_with_its_line_at_powers_of_two(self):
        self.assertEqual(self.told("F.dropout(x, 0.3)"),
                         [(1, 0.3, "10"), (2, 0.3, "10"), (4, 0.3, "10")])

    def test_a_call_that_goes_by_the_mode_is_not_told(self):
        self.assertEqual(self.told("F.dropout(x, 0.3, self.training)"), [])
        self.assertEqual(self.told("F.dropout(x, 0.0)"), [])

    def test_a_module_that_was_switched_on_is_not_told(self):
        self.assertEqual(self.told("self.drop(x)", "net.drop.train()"), [])

    def test_what_the_program_prints_is_the_same(self):
        source = program("F.dropout2d(x.unsqueeze(0), 0.3).squeeze(0)")
        self.assertEqual(run_watched(python("-c", source)).out, run_unwatched(python("-c", source)).out)


if __name__ == "__main__":
    unittest.main()
