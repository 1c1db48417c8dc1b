"""Pieces that several processes hold are recorded with those that hold the same, and no others."""

import textwrap
import unittest

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.testing._internal.distributed.fake_pg import FakeStore

from checks.observe.python.dlcheck_shim.distributed.copies import holders
from tests.observe.shim_ranks_test import traces_of

# Processes of a mesh; WRAP spreads the model over it, BEFORE and AFTER stand around a step.
SPREAD = textwrap.dedent(
    """
    import os, tempfile, time, torch, torch.multiprocessing, torch.distributed as dist
    from torch import nn
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import SequenceParallel, parallelize_module
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"

    def train(rank, file):
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=WORLD)
        torch.manual_seed(3)
        # The last layer has one row, so that some processes have no part of it.
        model = nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 1))
        model[1].bias.requires_grad_(False)
        WRAP
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        data = torch.Generator().manual_seed(rank)
        for step in range(4):
            optimizer.zero_grad()
            model(torch.randn(2, 4, 6, generator=data)).square().mean().backward()
            BEFORE
            optimizer.step()
            AFTER
        held = [getattr(p, "to_local", lambda: p)().tolist() for p in model.parameters()]
        dist.barrier()
        time.sleep(0.5)  # gloo ends a barrier of the other process if this one closes its sockets
        dist.destroy_process_group()
        with open(file + str(rank), "w") as out:
            print(held, torch.get_rng_state().sum(), file=out)

    if __name__ == "__main__":
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.start_processes(train, (folder + "/meeting",), WORLD, start_method="fork")
            print(*(open(folder + f"/meeting{rank}").read() for rank in range(WORLD)))
    """
)
HYBRID = (
    "mesh = dist.init_device_mesh('cpu', (2, 2), mesh_dim_names=('again', 'part')); "
    "fully_shard(model, mesh=mesh)"
)
EVEN = "fully_shard(model, mesh=dist.init_device_mesh('cpu', (2,)))"
# What a norm adds up over a sequence that is cut is a summand on each process.
CUT = (
    "mesh = dist.init_device_mesh('cpu', (2,)); "
    "parallelize_module(model, mesh, {'0': SequenceParallel(use_local_output=True)})"
)
NAMES = {"0.weight", "0.bias", "1.weight", "1.bias", "3.weight", "3.bias"}


def spread(wrap, before="pass", after="pass", world=2):
    source = SPREAD.replace("WRAP", wrap).replace("BEFORE", before).replace("AFTER", after)
    return source.replace("WORLD", str(world))


def digests(trace):
    """{(group, parameter, step): digest}."""
    return {(row.owner, row.thing[2], row.step): (row.value, row.aux)
            for row in trace.of("quantity", "replica_digest")}  # fmt: skip


def differing(first, second):
    """The parameters whose digests differ between two that hold the same pieces."""
    assert first.keys() == second.keys()
    return {key[1] for key, found in first.items() if second[key] != found}


class ShimCopies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.traces, cls.watched, cls.unwatched = traces_of(spread(HYBRID, world=4), alone=True)

    def test_a_program_of_copied_shards_ends_with_the_same_weights_random_numbers_and_status(self):
        self.assertEqual((self.unwatched.status, self.unwatched.out), (0, self.watched.out))

    def test_those_that_hold_the_same_pieces_have_the_same_digests_and_a_group_of_their_own(self):
        found = [digests(trace) for trace in self.traces]
        for rank, group in enumerate(("0,2", "1,3", "0,2", "1,3")):
            self.assertEqual({owner for owner, _, _ in found[rank]}, {("copies", "0", group)})
        self.assertEqual((found[0], found[1]), (found[2], found[3]))
        first, second = (
            {key[1:]: value for key, value in of_one.items() if key[1] == "1.weight"} for of_one in found[:2]
        )
        self.assertEqual(len(first), 4)
        self.assertTrue(all(second[key] != value for key, value in first.items()))

    def test_frozen_pieces_are_digested_and_empty_ones_are_not(self):
        first, second = ({name for _, name, _ in digests(trace)} for trace in self.traces[:2])
        self.assertEqual((first, second), (NAMES, NAMES - {"3.weight", "3.bias"}))
        self.assertEqual({step for _, _, step in digests(self.traces[0])}, {0, 1, 2, 3})

    def test_a_write_to_one_copy_shows_in_its_group_alone(self):
        write = "rank == 2 and model[1].weight.detach().to_local().add_(1e-6)"
        found = [digests(trace) for trace in traces_of(spread(HYBRID, after=write, world=4))]
        # The others get gradients of another model after that, but the same on both copies.
        self.assertEqual(differing(found[0], found[2]), {"1.weight"})
        self.assertEqual(differing(found[1], found[3]), set())

    def test_pieces_that_one_process_alone_holds_are_not_digested(self):
        for trace in traces_of(spread(EVEN)):
            self.assertEqual(digests(trace), {})

    def test_parameters_whose_gradients_are_summands_are_told_and_their_steps_not_worked_out(self):
        for trace in traces_of(spread(CUT)):
            told = {key[2] for key, found in trace.attributes.items()
                    if key and "own_gradient" in found}  # fmt: skip
            self.assertEqual(told, {"0.weight", "0.bias"})
            self.assertFalse(told & {row.thing[2] for row in trace.of("quantity", "update_error")})
            owners = {name: owner for owner, name, _ in digests(trace)}
            self.assertEqual(owners["0.weight"], ("copies", "0", "0-1"))


class Holders(unittest.TestCase):
    def held_on(self, rank, shape, placements, ranks=None):
        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=8)
        try:
            numbers = torch.tensor(ranks or range(8)).view(shape)
            mesh = dist.device_mesh.DeviceMesh("cpu", numbers)
            return holders(DTensor.from_local(torch.zeros(2, 2), mesh, placements, run_check=False))
        finally:
            dist.destroy_process_group()

    def test_those_that_differ_in_dimensions_that_replicate_hold_the_same(self):
        self.assertEqual(self.held_on(5, (2, 4), [Replicate(), Shard(0)]), (1, 5))
        self.assertEqual(self.held_on(5, (2, 4), [Shard(0), Replicate()]), (4, 5, 6, 7))
        self.assertEqual(self.held_on(5, (2, 2, 2), [Replicate(), Shard(0), Replicate()]), (0, 1, 4, 5))
        self.assertEqual(self.held_on(5, (8,), [Replicate()]), tuple(range(8)))

    def test_who_holds_a_piece_alone_has_nobody_beside(self):
        self.assertEqual(self.held_on(5, (8,), [Shard(0)]), (5,))
        self.assertEqual(self.held_on(5, (2, 4), [Shard(0), Shard(1)]), (5,))

    def test_a_mesh_of_some_processes_in_another_order_is_taken_as_it_is(self):
        placements = [Replicate(), Shard(0)]
        self.assertEqual(self.held_on(6, (2, 2), placements, [7, 2, 6, 3]), (6, 7))
        self.assertEqual(self.held_on(5, (2, 2), placements, [7, 2, 6, 3]), ())

    def test_summands_have_no_holders(self):
        self.assertEqual(self.held_on(5, (2, 4), [Partial(), Replicate()]), ())


if __name__ == "__main__":
    unittest.main()
