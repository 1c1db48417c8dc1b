"""Reads of an accelerator's numbers on the host are counted where there is one, or what passes for one;
without one nothing is replaced."""

import unittest

import torch

from tests.observe.reading import python, run_unwatched, run_watched

# Makes tensors of the CPU pass for those of an accelerator, if the probe is there.
PRETENDED = """
import sys
if "dlcheck_shim" in sys.modules:
    import torch
    from dlcheck_shim.hooks import host_reads
    host_reads.on_accelerator = lambda tensor: tensor.device.type != "meta"
"""
PROGRAM = """
import torch
import torch.nn.functional as F
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).to(DEVICE)
optimizer = torch.optim.Adam(model.parameters())
x, y = torch.randn(8, 3, device=DEVICE), torch.randn(8, 1, device=DEVICE)
BEFORE
total = torch.zeros((), device=DEVICE)
for step in range(STEPS):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.detach()
    BODY
print(total.item())
"""
READS = {
    "total.tolist(); float(loss)": 2,
    "f'{loss:.3f}'": 1,
    "if loss > 1e9: break; loss.item()": 1,
    "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)": 0,
    "with torch.no_grad(): print(f'{F.mse_loss(model(x), y):.3f}')": 0,
}
UNCHANGED = """
class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function in HANDLED:
            return HANDLED[function](args[0])
        return super().__torch_function__(function, types, args, kwargs or {})
HANDLED = {torch.Tensor.item: lambda t: "item", torch.Tensor.tolist: lambda t: "tolist"}
class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in HANDLED:
            print("told of", HANDLED[function](None))
        return function(*args, **(kwargs or {}))
named, frames = torch.ones(2).as_subclass(Named), []
@torch.compile(backend=lambda graph, inputs: frames.append(len(graph.graph.nodes)) or graph.forward)
def compiled(a):
    return a.to(torch.float64).mean() + a.sum().item()
"""


def counts(watched):
    return [row.value for row in watched.main.of("quantity", "host_reads")]


class ShimHostReads(unittest.TestCase):
    def both(self, body, before="", pretended=PRETENDED, steps=20):
        source = pretended + PROGRAM.replace("BODY", body).replace("BEFORE", before)
        source = source.replace("STEPS", str(steps))
        command = python("-c", source)
        alone, watched = run_unwatched(command), run_watched(command)
        self.assertEqual((alone.status, alone.out), (0, watched.out), alone.err + watched.err)
        self.assertEqual([key for key in watched.main.process if "failed" in key], [])
        return watched

    def check_counts(self, pretended):
        for body, expected in READS.items():
            with self.subTest(body):
                watched = self.both(body, pretended=pretended)
                self.assertEqual(counts(watched), [expected] * 19)
                if expected:
                    rows = watched.main.of("quantity", "host_reads")
                    self.assertEqual({row.step for row in rows}, set(range(1, 20)))
                    self.assertTrue(all(row.site[1] for row in rows))

    def test_those_of_the_program_are_counted(self):
        self.check_counts(PRETENDED)

    def test_those_of_sampled_steps_alone_are_counted(self):
        watched = self.both("loss.item()", steps=150)
        sampled = [row.step for row in watched.main.of("event", "step")]
        self.assertLess(len(sampled), 150)
        rows = watched.main.of("quantity", "host_reads")
        self.assertEqual([row.step for row in rows], sampled[1:])
        self.assertEqual({row.value for row in rows}, {1})

    @unittest.skipUnless(torch.cuda.is_available(), "there is no accelerator")
    def test_those_of_an_accelerator_are_counted(self):
        self.check_counts("")

    @unittest.skipIf(torch.cuda.is_available(), "there is an accelerator")
    def test_nothing_is_replaced_without_an_accelerator(self):
        watched = self.both("loss.item()\nassert 'item' not in vars(torch.Tensor)", pretended="")
        self.assertEqual(counts(watched), [])

    def test_who_is_told_of_methods_is_told_of_the_originals(self):
        body = "print(named.item() if step % 2 else named.tolist())"
        self.both(body, before=UNCHANGED)
        self.both("with Mode(): loss.item()", before=UNCHANGED)

    def test_code_is_compiled_as_often(self):
        self.both("print(compiled(loss.detach().reshape(1)).item(), frames)", before=UNCHANGED)


if __name__ == "__main__":
    unittest.main()
