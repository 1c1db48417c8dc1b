"""What stands between processes that train together is recorded by each of them, and changes nothing."""

import tempfile
import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

# Two processes of DistributedDataParallel; WRAP is what wraps the model, CALL what is called in training,
# START how they are started: forks have torch already.
WRAPPED = textwrap.dedent(
    """
    import contextlib, os, tempfile, time, torch, torch.multiprocessing, torch.distributed as dist
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"

    def train(rank, file):
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=2)
        torch.manual_seed(3)
        rows = torch.randn(48, 3)
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))
        model = WRAP
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        torch.manual_seed(rank)
        for step in range(6):
            model.train()
            optimizer.zero_grad()
            for part in range(2):
                at = 4 * (4 * step + 2 * part + rank) % 48
                with model.no_sync() if part == 0 and hasattr(model, "no_sync") else contextlib.nullcontext():
                    CALL(rows[at : at + 4]).square().mean().backward()
            SHARE
            optimizer.step()
            model.eval()
            with torch.no_grad():
                model(rows)
        dist.barrier()
        time.sleep(0.5)  # gloo ends a barrier of the other process if this one closes its sockets
        dist.destroy_process_group()
        with open(file + str(rank), "w") as out:
            print([p.tolist() for p in model.parameters()], torch.get_rng_state().sum(), file=out)

    if __name__ == "__main__":
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.start_processes(train, (folder + "/meeting",), 2, start_method=START)
            print(open(folder + "/meeting0").read(), open(folder + "/meeting1").read())
    """
)
BY_HAND = "[dist.all_reduce(p.grad) for p in model.parameters()]"
GATHERED = (
    "parts = [[torch.empty_like(p) for _ in range(2)] for p in model.parameters()]; "
    "[(dist.all_gather(part, p.grad), p.grad.copy_(torch.stack(part).mean(0)))"
    " for part, p in zip(parts, model.parameters())]"
)
REDUCED = (
    "[(dist.reduce(p.grad, 0), dist.broadcast(p.grad.div_(2 if rank == 0 else 1), 0))"
    " for p in model.parameters()]"
)
SHARDED = "__import__('torch.distributed.fsdp').distributed.fsdp.fully_shard(model)"
# Each process saves its part in the fourth step.
SAVED = "torch.save(model.state_dict(), file + f'{rank}.pt') if step == 3 else None"


def program(wrap="DistributedDataParallel(model)", call="model", share="pass", start="fork"):
    source = WRAPPED.replace("WRAP", wrap).replace("CALL", call).replace("SHARE", share)
    return source.replace("START", repr(start))


def traces_of(source, alone=False):
    """Those of the two processes, by rank; with `alone` also what the program does unwatched."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:  # spawned children read it
        file.write(source)
        file.flush()
        watched = run_watched(python(file.name))
        unwatched = run_unwatched(python(file.name)) if alone else None
    assert watched.status == 0, watched.err
    trained = [trace for trace in watched.traces if trace.of("event", "step")]
    trained.sort(key=lambda trace: [key[2] for key in trace.attributes if key and key[0] == "process"])
    return (trained, watched, unwatched) if alone else trained


def digests(trace, quantity):
    """{(thing, step): digest}."""
    return {(row.thing[2], row.step): (row.value, row.aux) for row in trace.of("quantity", quantity)}


class ShimRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.traces, cls.watched, cls.unwatched = traces_of(program(start="spawn"), alone=True)

    def test_a_wrapped_program_ends_with_the_same_weights_random_numbers_and_status(self):
        self.assertEqual((self.unwatched.status, self.unwatched.out), (0, self.watched.out))

    def test_processes_know_their_rank_and_how_they_ended_without_a_launcher(self):
        for rank, trace in enumerate(self.traces):
            self.assertEqual(trace.attributes[("process", "0", str(rank))]["ended"], "finished")
            self.assertEqual(trace.process["world_size"], "2")

    def test_replicas_have_the_digests_of_each_other_before_every_step(self):
        first, second = (digests(trace, "replica_digest") for trace in self.traces)
        self.assertEqual(len(first), 6 * 6)
        self.assertEqual(first, second)
        owners = {row.owner for row in self.traces[0].of("quantity", "replica_digest")}
        self.assertEqual(owners, {("replicas", "0", "0-1")})

    def test_forwards_of_the_wrapper_say_whether_they_share(self):
        values = [row.value for row in self.traces[1].of("event", "shared_forward")]
        self.assertEqual(values, [0, 1] * 6)

    def test_rows_masks_buffers_and_own_times_are_those_of_each(self):
        first, second = self.traces
        rows = [{(row.value, row.aux) for row in t.of("quantity", "row_sketch")} for t in self.traces]
        self.assertEqual((len(rows[0]), len(rows[0] & rows[1])), (12, 0))  # of the first micro-batch of each step
        masks = [digests(trace, "drawn_masks") for trace in self.traces]
        self.assertEqual(len(masks[0]), 4)  # steps 0, 1, 2 and 4
        self.assertFalse(set(masks[0].items()) & set(masks[1].items()))
        self.assertEqual(digests(first, "buffer_digest"), digests(second, "buffer_digest"))
        self.assertEqual(len(first.of("quantity", "own_time")), 5)

    def test_parameters_that_nobody_shares_are_those_of_peers(self):
        trace = traces_of(program(wrap="model"))[0]
        owners = {row.owner for row in trace.of("quantity", "replica_digest")}
        self.assertEqual(owners, {("peers", "0", "0-1")})

    def test_gradients_put_together_by_hand_make_replicas(self):
        trace = traces_of(program(wrap="model", share=BY_HAND))[0]
        owners = {row.owner for row in trace.of("quantity", "replica_digest")}
        self.assertEqual(owners, {("replicas", "0", "0-1")})

    def test_gradients_gathered_or_handed_round_by_hand_make_replicas(self):
        for share in (GATHERED, REDUCED):
            with self.subTest(share=share):
                trace = traces_of(program(wrap="model", share=share))[0]
                owners = {row.owner for row in trace.of("quantity", "replica_digest")}
                self.assertEqual(owners, {("replicas", "0", "0-1")})
                self.assertNotIn("speaks_in_passes", trace.process)

    def test_calls_within_passes_are_told(self):
        call = "(lambda x: (dist.all_reduce(x.clone()), model(x))[1])"
        self.assertEqual(traces_of(program(call=call))[0].process["speaks_in_passes"], "1")
        self.assertNotIn("speaks_in_passes", self.traces[0].process)

    def test_each_process_says_which_part_of_sharded_tensors_it_saves(self):
        for rank, trace in enumerate(traces_of(program(wrap=SHARDED, share=SAVED))):
            saved = trace.of("quantity", "saved_shards")
            self.assertEqual([(row.value, row.aux, row.step) for row in saved], [(rank, 2, 3)])
            self.assertEqual(saved[0].owner, ("peers", "0", "0-1"))
            self.assertTrue(saved[0].thing[2].endswith(f"/meeting{rank}.pt"))

    def test_gradients_put_together_at_some_steps_alone_make_none(self):
        share = f"{BY_HAND} if step % 2 else None"
        trace = traces_of(program(wrap="model", share=share))[0]
        owners = {row.owner for row in trace.of("quantity", "replica_digest")}
        self.assertEqual(owners, {("peers", "0", "0-1")})

    def test_a_layer_put_in_after_wrapping_is_told(self):
        late = program(wrap="DistributedDataParallel(model, find_unused_parameters=True); "
                            "model.module[3] = nn.Linear(4, 2)")  # fmt: skip
        attributes = traces_of(late)[0].attributes
        told = {key[2] for key, found in attributes.items() if key and "after_wrapping" in found}
        self.assertEqual(told, {"3.weight", "3.bias"})

    def test_a_layer_unfrozen_after_wrapping_is_told(self):
        frozen = program(wrap="DistributedDataParallel(model.requires_grad_(False) and "
                              "model[0].requires_grad_(True) and model)",
                         share="model.requires_grad_(True)")  # fmt: skip
        trace = traces_of(frozen)[0]
        told = {key[2] for key, found in trace.attributes.items() if key and "frozen_at_wrapping" in found}
        self.assertEqual(told, {"1.weight", "1.bias", "3.weight", "3.bias"})
        owners = {row.owner for row in trace.of("quantity", "replica_digest")}
        self.assertIn(("replicas", "0", "0-1"), owners)


if __name__ == "__main__":
    unittest.main()
