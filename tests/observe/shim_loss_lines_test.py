"""The lines that compute a loss are recorded beside its backward call, and so are those that built averages and
scalers."""

import pathlib
import tempfile
import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    from torch.optim.swa_utils import AveragedModel
    torch.manual_seed(0)
    net, other = nn.Linear(4, 3), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)
    average = AveragedModel(net)                               # average
    scaler = torch.amp.GradScaler("cpu")                       # scaler
    parts = 2
    def error(x):
        return other(x).square().mean()                        # second
    def train(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)                      # first
        loss = loss + net(x).square().mean()                   # first
        scaler.scale(loss / parts).backward()
        value = error(x)                                       # second
        value.backward()
        other(x).mean().backward()
        scaler.step(optimizer)
        scaler.update()
        average.update_parameters(net)
    for step in range(3):
        train(torch.randn(5, 4), torch.arange(5) % 3)
    print(net.weight.sum().item(), torch.rand(1).item())
    """
)


class ShimLossLines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "program.py")
            file.write_text(PROGRAM)
            cls.run_, cls.bare = run_watched(python(file)), run_unwatched(python(file))
        cls.lines = PROGRAM.split("\n")

    def marks(self, event):
        return [self.lines[int(row.site[1]) - 1].rpartition("# ")[2] for row in self.run_.main.of("event", event)]

    def test_of_each_backward_call_once_the_lines_that_give_its_loss(self):
        self.assertEqual(self.marks("loss_computed"), ["first", "first", "second", "second"])
        calls = [self.lines[int(row.value) - 1].strip() for row in self.run_.main.of("event", "loss_computed")]
        self.assertEqual(calls, ["scaler.scale(loss / parts).backward()"] * 2 + ["value.backward()"] * 2)

    def test_a_function_mode_of_the_program_makes_no_second_call(self):
        program = textwrap.dedent("""
            import torch, torch.nn.functional as F
            torch.set_default_device("cpu")
            net = torch.nn.Linear(4, 3)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for step in range(20):
                optimizer.zero_grad()
                F.cross_entropy(net(torch.randn(5, 4)), torch.arange(5) % 3).backward()
                optimizer.step()
            """)
        rows = run_watched(python("-c", program)).main.of("quantity", "unused_losses")
        self.assertEqual({(row.value, row.aux) for row in rows}, {(0, 1)})

    def test_of_averages_and_scalers_once(self):
        self.assertEqual(self.marks("average_built"), ["average"])
        self.assertEqual(self.marks("scaler_built"), ["scaler"])

    def test_the_program_ends_with_the_same_bits(self):
        self.assertEqual((self.run_.status, self.run_.out), (0, self.bare.out))


if __name__ == "__main__":
    unittest.main()
