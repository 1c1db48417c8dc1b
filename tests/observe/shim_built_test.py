"""The line that built each layer, loss and optimizer is recorded: of a class of the program, the line that calls it."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import copy, torch, torch.nn as nn
    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.mix = nn.Linear(width, width)                 # mix
        def forward(self, x):
            return self.mix(x).tanh()
    class Wide(Block):
        def __init__(self):
            super().__init__(4)
    class Stack(nn.Sequential):
        pass
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Wide()                                # first
            self.rest = Stack(Block(4),                        # rest
                              nn.Dropout(0.1))                 # drop
            self.again = copy.deepcopy(self.first)
        def forward(self, x):
            return self.again(self.rest(self.first(x)))
    torch.manual_seed(0)
    net = Net()                                                # net
    class Own(torch.optim.SGD):
        def __init__(self, parameters):
            super().__init__(parameters, lr=0.1)               # super
    optimizer = Own(net.parameters())                          # optimizer
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)  # scheduler
    near = nn.MSELoss()                                        # near
    far, other = nn.L1Loss(), None
    other = nn.L1Loss(reduction="sum")
    for step in range(3):
        optimizer.zero_grad()
        output, wanted = net(torch.randn(5, 4)), torch.ones(5, 4)
        (near(output, wanted) + far(output, wanted) + other(output, wanted)).backward()
        optimizer.step()
        scheduler.step()
    print(net.first.mix.weight.sum().item(), torch.rand(1).item())
    """
)


class ShimBuilt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = run_watched(python("-c", PROGRAM))
        cls.lines = PROGRAM.split("\n")

    def marks(self, event):
        rows = self.run_.main.of("event", event)
        return {row.thing[2]: self.lines[int(row.site[1]) - 1].rpartition("# ")[2] for row in rows}

    def test_of_layers_by_their_names(self):
        self.assertEqual(self.marks("module_built"), {
            "": "net", "first": "first", "first.mix": "mix", "rest": "rest", "rest.0": "rest", "rest.0.mix": "mix",
            "rest.1": "drop", "mse_loss": "near",
        })  # fmt: skip

    def test_a_copy_has_none(self):
        self.assertNotIn("again", self.marks("module_built"))

    def test_of_two_losses_that_call_one_function_none_is_told(self):
        self.assertNotIn("l1_loss", self.marks("module_built"))

    def test_of_optimizers_and_schedulers(self):
        self.assertEqual(list(self.marks("optimizer_built").values()), ["super"])
        self.assertEqual(list(self.marks("scheduler").values()), ["scheduler"])

    def test_the_program_ends_with_the_same_bits(self):
        self.assertEqual(self.run_.out, run_unwatched(python("-c", PROGRAM)).out)


if __name__ == "__main__":
    unittest.main()
