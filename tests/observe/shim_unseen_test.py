"""What runs inside compiled graphs, captured graphs and modules that run as one call is counted, and
nothing of a program without any."""

import textwrap
import unittest

import torch

from tests.observe.reading import SHIM, python, run_unwatched, run_watched

COUNTS = ("compiled_graphs", "graph_replays", "opaque_modules")

PROGRAM = textwrap.dedent(
    """
    import sys, torch, torch.nn.functional as F
    torch.manual_seed(1)
    def plainly(graph, inputs):
        return graph.forward
    def layers():
        return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = layers(), layers()
        def forward(self, x):
            return self.second(self.first(x)) * 2
    net, x, y = Net(), torch.randn(8, 4), torch.randint(4, (8,))
    def loss_of(x, y):
        return F.cross_entropy(net(x), y)
    {change}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(20):
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
    print(loss.item())
    if "torch._dynamo" in sys.modules:
        print(torch._dynamo.utils.counters["frames"], torch._dynamo.utils.counters["stats"])
    """
)

# Stands in for a captured graph, which takes an accelerator to make.
REPLAYS = textwrap.dedent(
    """
    import types, torch
    class Graph:
        def replay(self):
            return "replayed"
    torch.cuda.CUDAGraph = Graph
    from dlcheck_shim.moments import Moments
    from dlcheck_shim.torch_api.guard import Guard
    from dlcheck_shim.hooks.unseen import Unseen
    recorder = types.SimpleNamespace(attribute=lambda *row: print(*row), moments=Moments())
    unseen = Unseen(Guard(print, print), recorder)
    unseen.watch_all()
    print({Graph().replay() for _ in range(40)})
    for _ in range(2):
        unseen.write()
    unseen.reset()
    unseen.write()
    """
)

CAPTURED = textwrap.dedent(
    """
    import torch
    net, x = torch.nn.Linear(4, 4).cuda(), torch.randn(8, 4, device="cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    captured = torch.cuda.make_graphed_callables(net, (x,))
    for step in range(20):
        optimizer.zero_grad()
        captured(x).square().mean().backward()
        optimizer.step()
    """
)


class ShimUnseen(unittest.TestCase):
    def counts(self, change):
        """Of the program with a change; it does the same as unwatched."""
        command = python("-c", PROGRAM.replace("{change}", change))
        alone, self.watched = run_unwatched(command), run_watched(command)
        self.assertEqual(
            (alone.status, alone.out), (0, self.watched.out), alone.err + self.watched.err
        )
        process = self.watched.main.process
        return {key: int(process[key]) for key in COUNTS if key in process}

    def seen(self):
        """Names of modules that were seen to run."""
        forwards = self.watched.main.of("event", "forward")
        return {row.thing[2] for row in forwards if row.thing and row.thing[0] == "module"}

    def test_a_program_that_hides_nothing_has_no_counts(self):
        self.assertEqual(self.counts(""), {})
        self.assertLessEqual({"first.0", "second.2"}, self.seen())

    def test_of_a_compiled_model_the_outermost_call_is_seen(self):
        change = "net = torch.compile(net, backend=plainly, fullgraph=True)"
        self.assertEqual(self.counts(change), {"compiled_graphs": 1})
        self.assertEqual(self.seen(), {""})

    def test_a_model_compiled_in_place_makes_no_frames_of_ours(self):
        change = "net.compile(backend=plainly, fullgraph=True)"
        self.assertEqual(self.counts(change), {"compiled_graphs": 1})

    def test_the_rest_of_a_model_with_a_compiled_part_is_seen(self):
        change = "net.first = torch.compile(net.first, backend=plainly)"
        self.assertEqual(self.counts(change), {"compiled_graphs": 1})
        self.assertIn("second.2", self.seen())
        self.assertNotIn("first.0", self.seen())

    def test_of_a_compiled_function_no_model_is_seen(self):
        change = "loss_of = torch.compile(loss_of, backend=plainly)"
        self.assertEqual(self.counts(change), {"compiled_graphs": 1})
        self.assertEqual(self.seen(), set())

    def test_what_is_compiled_and_never_called_is_not_counted(self):
        self.assertEqual(self.counts("torch.compile(net, backend=plainly)"), {})
        self.assertIn("first.0", self.seen())

    def test_modules_that_run_as_one_call_are_counted_without_their_parts(self):
        change = "net.first = torch.jit.trace(net.first, x)"
        self.assertEqual(self.counts(change), {"opaque_modules": 1})
        self.assertIn("second.2", self.seen())
        self.assertEqual(self.counts("net = torch.jit.trace(net, x)"), {"opaque_modules": 1})
        self.assertEqual(self.seen(), {""})

    def test_what_is_exported_counts_only_where_it_runs(self):
        self.assertEqual(self.counts("torch.export.export(net, (x,))"), {})
        exported = "net = torch.export.export(net, (x,)).module()"
        self.assertEqual(self.counts(exported), {"opaque_modules": 1})

    def test_replays_of_captured_graphs_are_counted_once(self):
        run = run_unwatched(python("-c", REPLAYS), {"PYTHONPATH": str(SHIM)})
        self.assertEqual(run.out, "{'replayed'}\n0 graph_replays 40\n", run.err)

    @unittest.skipUnless(torch.cuda.is_available(), "graphs are captured on an accelerator")
    def test_captured_callables_replay_twice_in_a_step(self):
        process = run_watched(python("-c", CAPTURED)).main.process
        self.assertEqual(process["graph_replays"], "40")


if __name__ == "__main__":
    unittest.main()
