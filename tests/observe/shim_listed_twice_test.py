"""A parameter that one optimizer has twice is recorded once, with how often it is there."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch
    from torch import nn

    body, head = nn.Linear(6, 6), nn.Linear(6, 6)
    TIED
    net = nn.Sequential(body, nn.Tanh(), head)
    optimizers = [torch.optim.SGD(parameters, lr=0.01) for parameters in (PARAMETERS)]
    for step in range(6):
        for optimizer in optimizers:
            optimizer.zero_grad()
        net(torch.randn(8, 6)).square().mean().backward()
        for optimizer in optimizers:
            optimizer.step()
    """
)


def listed(parameters, tied="pass"):
    """What was recorded of a program whose optimizers have these lists of parameters."""
    program = PROGRAM.replace("TIED", tied).replace("PARAMETERS", parameters)
    return run_watched(python("-c", program)).main


class ListedTwice(unittest.TestCase):
    def test_the_parameter_and_how_often_it_is_there_are_recorded_once(self):
        trace = listed("[*net.parameters(), body.weight, body.weight],")
        self.assertEqual([(row.thing[-1], row.value) for row in trace.of("quantity", "listed_twice")], [("0.weight", 3.0)])

    def test_nothing_is_recorded_of_parameters_that_are_there_once(self):
        for parameters, tied in (("net.parameters(),", "head.weight = body.weight"),
                                 ("net.parameters(), net.parameters()", "pass"),
                                 ("{*body.parameters(), *head.parameters()},", "head.weight = body.weight")):  # fmt: skip
            with self.subTest(parameters=parameters, tied=tied):
                self.assertEqual(listed(parameters.replace("{", "list({").replace("}", "})"), tied).of("quantity", "listed_twice"), [])


if __name__ == "__main__":
    unittest.main()
