"""Models whose parameters are spread over processes, or that a wrapper holds, are watched like others."""

import tempfile
import textwrap
import unittest

import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

from checks.observe.python.dlcheck_shim.experiments.trials.bench import Bench
from tests.observe.reading import python, run_unwatched, run_watched

TWO = """
    import os, tempfile, time, torch, torch.multiprocessing, torch.distributed as dist
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # whatever the machine is called

    def train(rank, file):
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=2)
        torch.manual_seed(0)
        # The last bias has one element, so that one process has no part of it.
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
WRAP
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        torch.manual_seed(rank)
        for step in range(12):
            optimizer.zero_grad()
            model(torch.randn(4, 6)).square().mean().backward()
            optimizer.step()
        with torch.no_grad():
            for _ in range(2):
                model.eval()
                INNER(torch.ones(4, 6))
        state = [getattr(p, "full_tensor", lambda: p)().tolist() for p in model.parameters()]
        dist.barrier()
        time.sleep(0.5)  # gloo ends a barrier of the other process if this one closes its sockets
        dist.destroy_process_group()
        with open(file + str(rank), "w") as out:
            print(state, torch.rand(1), file=out)

    if __name__ == "__main__":
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.start_processes(train, (folder + "/meeting",), 2, start_method="fork")
            print(open(folder + "/meeting0").read(), open(folder + "/meeting1").read())
"""
SHARDED = """
        from torch.distributed.fsdp import fully_shard
        mesh = dist.init_device_mesh("cpu", (2,))
        fully_shard(model[0], mesh=mesh)
        fully_shard(model, mesh=mesh)
"""
REPLICATED = "        model = torch.nn.parallel.DistributedDataParallel(model)"


class Sharded(unittest.TestCase):
    def ranks(self, wrap, inner="model"):
        source = textwrap.dedent(TWO.replace("WRAP", wrap.strip("\n")).replace("INNER", inner))
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:  # spawned children read it
            file.write(source)
            file.flush()
            command = python(file.name)
            alone, watched = run_unwatched(command), run_watched(command)
        self.assertEqual((alone.status, alone.out), (0, watched.out), alone.err + watched.err)
        return [trace for trace in watched.traces if trace.of("event", "step")]

    def test_sharded_parameters_keep_their_names_and_each_process_measures_its_part(self):
        ranks = self.ranks(SHARDED)
        self.assertEqual(len(ranks), 2)
        names = {"0.weight", "0.bias", "2.weight", "2.bias"}
        for trace in ranks:
            for quantity in ("gradient_norm", "weight_norm", "update_norm"):
                rows = trace.of("quantity", quantity)
                self.assertEqual({row.thing[2] for row in rows}, names, quantity)
            errors = trace.of("quantity", "update_error")
            self.assertTrue(errors)
            self.assertTrue(all(row.value <= row.aux for row in errors))
        empty = [{r.thing[2] for r in t.of("quantity", "update_error")} != names for t in ranks]
        self.assertEqual(sum(empty), 1)

    def test_a_sharded_model_is_not_compared_before_and_after_an_evaluation(self):
        for trace in self.ranks(SHARDED):
            self.assertEqual(trace.of("quantity", "model_digest"), [])

    def test_a_replicated_model_that_is_evaluated_without_its_wrapper_is_the_same_model(self):
        for trace in self.ranks(REPLICATED, "model.module"):
            models = {row.thing for row in trace.of("event", "evaluation_forward")}
            self.assertEqual(models, {("model", "0", "DistributedDataParallel")})

    def test_a_model_that_is_tried_itself_gets_each_mode_back(self):
        with tempfile.NamedTemporaryFile() as file:
            dist.init_process_group("gloo", init_method="file://" + file.name, rank=0, world_size=1)
            self.addCleanup(dist.destroy_process_group)
            model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(), nn.Sequential(nn.Dropout()))
            model[2].eval()
            fully_shard(model, mesh=dist.init_device_mesh("cpu", (1,)))
            modes = [part.training for part in model.modules()]
            bench = Bench(model)
            self.assertEqual((bench.module, model[1].training), (model, False))
            bench.put_back()
            self.assertEqual([part.training for part in model.modules()], modes)


if __name__ == "__main__":
    unittest.main()
