"""What processes say to each other through torch.distributed is recorded in order, and changes nothing."""

import tempfile
import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

TWO = textwrap.dedent(
    """
    import os, tempfile, time, torch, torch.multiprocessing, torch.distributed as dist
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # whatever the machine is called

    def train(rank, file):
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=2)
        torch.manual_seed(rank)
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for parameter in model.parameters():
            dist.broadcast(parameter.data, 0)
        for step in range(STEPS):
            optimizer.zero_grad()
            model(torch.randn(4, 3)).square().mean().backward()
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
            optimizer.step()
        losses = [torch.zeros(2) for _ in range(2)]
        dist.all_gather(losses, model.bias.detach())
        dist.barrier()
        time.sleep(0.5)  # gloo ends a barrier of the other process if this one closes its sockets
        dist.destroy_process_group()
        with open(file + str(rank), "w") as out:
            print(model.weight.tolist(), losses, file=out)

    if __name__ == "__main__":
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.start_processes(train, (folder + "/meeting",), 2, start_method="START")
            print(open(folder + "/meeting0").read(), open(folder + "/meeting1").read())
    """
)
COMPILED = textwrap.dedent(
    """
    import tempfile, torch, torch.distributed as dist
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("gloo", init_method="file://" + folder + "/a", rank=0, world_size=1)
        frames = []
        def backend(graph, inputs):
            frames.append([str(node.target) for node in graph.graph.nodes])
            return graph.forward
        @torch.compile(backend=backend)
        def reduced(x):
            dist.all_reduce(x)
            return x + 1
        print(reduced(torch.ones(2)), frames)
        dist.destroy_process_group()
    """
)


class ShimCollectives(unittest.TestCase):
    def both(self, source):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:  # spawned children read it
            file.write(source)
            file.flush()
            command = python(file.name)
            alone, watched = run_unwatched(command), run_watched(command)
        self.assertEqual((alone.status, alone.out), (0, watched.out), alone.err + watched.err)
        self.assertEqual(watched.status, 0)
        return watched

    def test_are_recorded_in_order_with_their_bytes(self):
        watched = self.both(TWO.replace("STEPS", "3").replace("START", "spawn"))
        traces = [trace for trace in watched.traces if trace.of("event", "step")]
        self.assertEqual(len(traces), 2)
        weight, bias = 4 * 6, 4 * 2
        expected = [("broadcast float32", 0, weight), ("broadcast float32", 0, bias)]
        for step in range(3):
            expected += [("all_reduce float32", step, weight), ("all_reduce float32", step, bias)]
        expected += [("all_gather float32", 3, 2 * bias), ("barrier", 3, 0)]
        for trace in traces:
            rows = trace.of("event", "collective")
            self.assertEqual([(row.thing[2], row.step, row.value) for row in rows], expected)
            self.assertTrue(all(row.site[1] for row in rows))
            self.assertEqual({row.owner for row in rows}, {("peers", "0", "0-1")})

    def test_those_of_steps_that_are_not_sampled_are_counted(self):
        watched = self.both(TWO.replace("STEPS", "300").replace("START", "fork"))
        for trace in watched.traces:
            if trace.of("event", "step"):
                seen = len(trace.of("event", "collective"))
                seen += sum(row.value for row in trace.of("gap", "collective"))
                self.assertEqual(seen, 2 + 600 + 2)

    def test_are_compiled_as_without_it(self):
        self.both(COMPILED)


if __name__ == "__main__":
    unittest.main()
