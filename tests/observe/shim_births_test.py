"""Where the first value that is not finite was made is read off the graph of the loss; what the graph does
not tell is not said, and nothing that it saved is unpacked once more than the program expects."""

import math
import sys
import textwrap
import unittest

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from tests.observe.reading import SHIM, python, run_unwatched, run_watched

sys.path.insert(0, str(SHIM))

from dlcheck_shim.autograd.loss_graph import SavedTensors  # noqa: E402
from dlcheck_shim.autograd.nonfinite_origin import birth_behind  # noqa: E402

torch.manual_seed(1)
NAN, INFINITE = math.nan, math.inf
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
x, y, no = torch.randn(8, 3), torch.randn(8, 2), torch.zeros(8)
wide = torch.nn.Linear(3, 40)
x_with_nan, y_with_nan = x.clone(), y.clone()
x_with_nan[2, 1] = y_with_nan[2, 1] = NAN


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx._saved_self = a
        ctx.save_for_backward(a)
        return a * NAN

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def with_parameter_of_nan():
    broken = torch.nn.Linear(3, 2)
    broken.weight.data[0, 0] = NAN
    return F.cross_entropy(broken(x), torch.ones(8).long())


def beside_what_is_masked():
    p = model(x)
    masked = torch.where(p.abs() < 9, p, (p * 0).log()).mean()
    return masked + (p * 0).square().sum().reciprocal()


# What makes a loss, then what its birth is said to be, of what name and how far away.
TOLD = {
    "a logarithm of zero": (
        lambda: -((model(x).sigmoid() * 0).log() * y.square()).mean(), "operation", "log", 3),
    "zero divided by zero": (
        lambda: (F.mse_loss(model(x), y, reduction="none").mean(1) * no).sum() / no.sum(),
        "operation", "div", 0),
    "a square root of what is negative": (
        lambda: (model(x).square() * -1.0).sqrt().mean(), "operation", "sqrt", 1),
    "a negative power of zero": (
        lambda: (model(x) * 0).pow(-2).mean() * 3, "operation", "pow", 2),
    "a mean of nothing": (
        lambda: (model(x) - y).square()[no > 1].mean() / 2, "operation", "mean", 1),
    "targets that are all ignored": (
        lambda: F.cross_entropy(model(x), torch.full((8,), -100)) + model(x).square().mean(),
        "operation", "nll_loss", 1),
    "an exponential": (
        lambda: ((model(x) + 1).square() * 1e4).exp().mean(), "operation", "exp", 1),
    "data": (lambda: F.mse_loss(model(x_with_nan), y), "data", "addmm", 3),
    "targets": (lambda: F.mse_loss(model(x), y_with_nan), "data", "mse_loss", 0),
    "targets of a loss by hand": (
        lambda: ((model(x) - y_with_nan) ** 2).mean() / 4, "data", "sub", 3),
    "a parameter": (with_parameter_of_nan, "parameter", "", 4),
    "beside what is infinite and masked": (
        beside_what_is_masked, "operation", "reciprocal", 1),
}  # fmt: skip
UNTOLD = {
    "no graph": lambda: torch.tensor(NAN, requires_grad=True),
    "a sum of infinities of both signs": lambda: (wide(x) * 1e38 * 10).sum(),
    "a mean in half precision": lambda: (wide(x).half() * 65504 * 4).mean(),
    "a product of infinities": lambda: (wide(x) * 1e38 * 10).mm(torch.ones(40, 1)).mean(),
    "a function of its own": lambda: Broken.apply(model(x).exp()).mean(),
    "every score masked": lambda: (model(x) @ model(x).T)
    .masked_fill(torch.ones(8, 8).bool(), -INFINITE).softmax(1).square().mean(),
}  # fmt: skip

PROGRAM = """
import torch, torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 3)
for step in range(210):
    optimizer.zero_grad()
    BODY
    loss.backward()
    optimizer.step()
print(loss.item(), model[0].weight.sum().item())
"""


def program(body):
    body = textwrap.indent(textwrap.dedent(body).strip(), "    ").strip()
    return python("-c", PROGRAM.replace("BODY", body))


def births(trace):
    found = [a for thing, a in trace.attributes.items() if thing and thing[0] == "loss"]
    return [{k[5:]: v for k, v in a.items() if k.startswith("born_")} for a in found
            if "born_step" in a]  # fmt: skip


class ShimBirths(unittest.TestCase):
    def test_the_first_operation_is_named(self):
        for name, (make, *expected) in TOLD.items():
            with self.subTest(name):
                loss = make()
                self.assertFalse(math.isfinite(loss.item()))
                birth = birth_behind(loss)
                self.assertEqual([birth.what, birth.name, birth.distance], expected)
                loss.backward()

    def test_nothing_is_told_that_cannot_be_known(self):
        for name, make in UNTOLD.items():
            with self.subTest(name):
                self.assertIsNone(birth_behind(make()))

    def test_what_was_freed_or_written_to_is_passed_over(self):
        loss = TOLD["a logarithm of zero"][0]()
        loss.backward()
        self.assertIsNone(birth_behind(loss))
        p = (model(x).sigmoid() * 0).clone()
        loss = p.log().sum()
        p.data.add_(1)
        p.add_(1)
        self.assertIsNone(birth_behind(loss))

    def test_nothing_is_read_once_something_was_packed(self):
        SavedTensors.packed = True
        self.addCleanup(setattr, SavedTensors, "packed", False)
        self.assertIsNone(birth_behind(TOLD["data"][0]()))
        self.assertIsNone(birth_behind(checkpoint(TOLD["data"][0], use_reentrant=False)))

    def watched(self, body):
        alone, watched = run_unwatched(program(body)), run_watched(program(body))
        self.assertEqual((watched.status, watched.out), (0, alone.out), watched.err)
        return watched

    def test_it_is_told_once_in_steps_that_are_not_sampled_too(self):
        watched = self.watched("loss = (model(x).sigmoid() * (step < 200)).log().square().mean()")
        (birth,) = births(watched.main)
        self.assertEqual(birth, {"step": "200", "of": "operation", "name": "log", "distance": "2",
                                 "low": "0.0", "high": "0.0"})  # fmt: skip

    def test_parameters_have_their_names(self):
        watched = self.watched("loss = (model(x) * (step < 5)).square().sum().sqrt()")
        (birth,) = births(watched.main)  # the gradient was not finite at step 5, the loss was
        self.assertEqual((birth["step"], birth["name"]), ("6", "0.weight"))

    def test_what_the_program_packed_is_unpacked_as_often(self):
        watched = self.watched("""
            taken = []
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: taken.append(1) or t):
                loss = (model(x).sigmoid() * (step < 5)).log().mean()
            loss.register_hook(lambda g: print(len(taken)) if step == 5 else None)
        """)
        self.assertEqual((births(watched.main), watched.out[:2]), ([], "0\n"))

    def test_what_is_worked_out_again_ends_as_it_does_alone(self):
        watched = self.watched("""
            loss = checkpoint(lambda x: (model(x).sigmoid() * (step < 5)).log(), x, use_reentrant=False)
            loss = loss.mean()
        """)
        self.assertEqual(births(watched.main), [])


if __name__ == "__main__":
    unittest.main()
