"""What a model uses and does not know as its own is seen where it was forgotten, and only there."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn
    torch.manual_seed(0)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.leave = nn.Linear(4, 6), nn.Linear(6, 1)
            self.loose = {"a": [nn.Linear(6, 6)], "b": nn.Sequential(nn.Linear(6, 6), nn.Tanh())}
            self.shift = torch.zeros(6, requires_grad=True)
            self.list = [nn.Linear(6, 6), nn.Linear(6, 6)]
            self.seen = None

        def forward(self, x):
            self.seen = x.clone().requires_grad_()
            y = self.enter(self.seen) + SHIFT
            USE
            return self.leave(y)

    net = Net()
    MORE
    optimizer = torch.optim.SGD([*net.parameters(), *GIVEN], lr=0.01)
    for step in range(9):
        optimizer.zero_grad()
        net(torch.rand(5, 4)).square().mean().backward()
        optimizer.step()
        AFTER
    """
)
DEFAULT = {"SHIFT": "0", "USE": "pass", "MORE": "pass", "GIVEN": "()", "AFTER": "pass"}


def trace_of(**places):
    source = PROGRAM
    for place, text in {**DEFAULT, **places}.items():
        source = source.replace(place, text)
    return run_watched(python("-c", source)).main


def names_beside(**places):
    """Names of the things that are written as parameters, without those that are."""
    trace = trace_of(**places)
    found = {thing[2] for thing in trace.names["thing"].values() if thing[0] == "parameter"}
    return found - {"enter.weight", "enter.bias", "leave.weight", "leave.bias"}


class ShimUnregistered(unittest.TestCase):
    def test_layers_in_a_list_or_a_dictionary(self):
        self.assertEqual(names_beside(USE="y = self.list[1](y)"), {"list[1].weight", "list[1].bias"})
        self.assertEqual(names_beside(USE="y = self.loose['b'](y)"),
                         {"loose['b'].0.weight", "loose['b'].0.bias"})

    def test_a_tensor_that_is_no_parameter(self):
        self.assertEqual(names_beside(SHIFT="self.shift"), {"shift"})

    def test_what_an_optimizer_holds_is_known_as_its_own(self):
        found = names_beside(USE="y = self.list[0](y)", GIVEN="net.list[0].parameters()")
        self.assertEqual(found, {"optimizer#0/group#0/4", "optimizer#0/group#0/5"})

    def test_nothing_of_what_is_moved_by_hand(self):
        moved = "net.shift.data -= 0.1 * net.shift.grad"
        self.assertEqual(names_beside(SHIFT="self.shift", AFTER=moved), set())

    def test_nothing_of_what_runs_without_gradients_or_is_frozen(self):
        self.assertEqual(names_beside(USE="y = y + self.list[0](y).detach()"), set())
        frozen = "net.list[0].requires_grad_(False)"
        self.assertEqual(names_beside(USE="y = self.list[0](y)", MORE=frozen), set())

    def test_nothing_of_inputs_that_are_kept(self):
        self.assertEqual(names_beside(), set())

    def built(self, use):
        rows = trace_of(USE=use).of("quantity", "built_anew")
        return [(row.thing[2], row.value, row.aux) for row in rows]

    def test_layers_that_a_forward_builds(self):
        self.assertEqual(self.built("y = nn.Linear(6, 6)(y)"), [("Linear", 8, 1)])
        self.assertEqual(self.built("y = nn.BatchNorm1d(6)(y)"), [("BatchNorm1d", 8, 1)])
        self.assertEqual(self.built("y = nn.LayerNorm(6)(y)"), [("LayerNorm", 8, 0)])

    def test_layers_without_parameters_may_be_built(self):
        self.assertEqual(self.built("y = nn.Dropout(0.1)(nn.ReLU()(y))"), [])

    def test_layers_that_are_kept_are_not_built(self):
        self.assertEqual(self.built("y = self.list[0](self.list[1](y))"), [])
        kept = "self.list.append(nn.Linear(6, 6)); y = self.list[-1](y)"
        self.assertEqual(self.built(kept), [])


if __name__ == "__main__":
    unittest.main()
