"""What the shim records of data loaders: also of those that are made in the line of the loop, which are
gone before their batches are."""

import tempfile
import textwrap
import unittest

from tests.observe.reading import python, run_watched

IN_THE_LOOP = textwrap.dedent(
    """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    table, other = TensorDataset(torch.rand(8, 2)), TensorDataset(torch.rand(12, 2))
    kept = DataLoader(table, 4, shuffle=True)
    for epoch in range(3):
        for (x,) in kept:
            optimizer.zero_grad(); model(x).sum().backward(); optimizer.step()
        for (x,) in DataLoader(table, 4, shuffle=True):
            optimizer.zero_grad(); model(x).sum().backward(); optimizer.step()
        for (x,) in DataLoader(other, 4):
            optimizer.zero_grad(); model(x).sum().backward(); optimizer.step()
    """
)
# A subset of a data set of the program's own.
OWN = """
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, i):
        return (torch.full((2,), float(i)),)
table = TensorDataset(torch.rand(8, 2))
other = torch.utils.data.Subset(Rows(), range(12))
"""
STRANGE = """
class Gives:
    def __call__(self, i):
        return (torch.full((2,), float(i)),)
    def __getattr__(self, name):
        raise RuntimeError(f"asked for {name}")
class Rows:
    __getitem__ = Gives()
    def __len__(self):
        return 12
table, other = TensorDataset(torch.rand(8, 2)), Rows()
"""


class Loaders(unittest.TestCase):
    def test_a_loader_made_again_for_each_epoch_is_one(self):
        trace = run_watched(python("-c", IN_THE_LOOP)).main
        fetched = list(trace.of("event", "fetched"))
        loaders = dict.fromkeys(row.thing for row in fetched)
        self.assertEqual([thing[0] for thing in loaders], ["loader"] * 3)
        facts = [trace.attributes[thing] for thing in loaders]
        self.assertEqual([fact["order"] for fact in facts], ["random", "random", "sequential"])
        self.assertEqual([fact["samples"] for fact in facts], ["8", "8", "12"])
        self.assertEqual([fact["batch_size"] for fact in facts], ["4"] * 3)
        for thing, places in zip(loaders, ([0, 1], [0, 1], [0, 1, 2])):
            self.assertEqual([row.value for row in fetched if row.thing == thing], places * 3)

    def test_each_has_the_line_that_built_it(self):
        trace = run_watched(python("-c", IN_THE_LOOP)).main
        loaders = dict.fromkeys(row.thing for row in trace.of("event", "fetched"))
        lines = [int(trace.attributes[thing]["built_line"]) for thing in loaders]
        source = IN_THE_LOOP.split("\n")
        self.assertEqual([source[line - 1].strip()[:22] for line in lines],
                         ["kept = DataLoader(tabl", "for (x,) in DataLoader", "for (x,) in DataLoader"])
        self.assertEqual(len(set(lines)), 3)

    def test_each_has_the_line_that_built_its_data_or_makes_its_samples(self):
        own = IN_THE_LOOP.replace("table, other = TensorDataset(torch.rand(8, 2)), TensorDataset(torch.rand(12, 2))", OWN)
        for program, begins in ((IN_THE_LOOP, ["table,"] * 3), (own, ["table ="] * 2 + ["def __getitem__(self, i):"])):
            trace = run_watched(python("-c", program)).main
            loaders = dict.fromkeys(row.thing for row in trace.of("event", "fetched"))
            lines = [program.split("\n")[int(trace.attributes[thing]["data_line"]) - 1].strip() for thing in loaders]
            self.assertEqual([line[: len(begin)] for line, begin in zip(lines, begins)], begins)

    def test_nothing_is_asked_of_what_stands_in_the_place_of_a_function(self):
        program = IN_THE_LOOP.replace("table, other = TensorDataset(torch.rand(8, 2)), TensorDataset(torch.rand(12, 2))", STRANGE)
        run = run_watched(python("-c", program))
        self.assertEqual((run.status, run.err), (0, ""))
        loaders = dict.fromkeys(row.thing for row in run.main.of("event", "fetched"))
        self.assertEqual(["data_line" in run.main.attributes[thing] for thing in loaders], [True, True, False])

    def test_what_they_hand_out_is_known_again_whatever_the_program_makes_of_it(self):
        changed = IN_THE_LOOP.replace("model(x)", "model(x + torch.rand(4, 2))")
        trace = run_watched(python("-c", changed)).main
        *_, sequential = dict.fromkeys(row.thing for row in trace.of("event", "fetched"))
        told = [row for row in trace.of("quantity", "fetched_digest") if row.thing == sequential]
        self.assertEqual([row.aux for row in told][:3], [0, 1, 2])
        by_place = {}
        for row in told:
            by_place.setdefault(row.aux, set()).add(row.value)
        self.assertEqual([len(values) for values in by_place.values()], [1, 1, 1])
        self.assertEqual(len(set.union(*by_place.values())), 3)

    def same_starts(self, **replaced):
        source = IN_THE_LOOP
        for old, new in replaced.values():
            source = source.replace(old, new)
        trace = run_watched(python("-c", source)).main
        loaders = dict.fromkeys(row.thing for row in trace.of("event", "fetched"))
        return [trace.attributes[thing].get("same_start") for thing in loaders]

    def test_iterations_with_one_random_state_are_counted(self):
        seeds = ("    for (x,) in kept:", "    torch.manual_seed(3)\n    for (x,) in kept:")
        self.assertEqual(self.same_starts(seeds=seeds), ["3", "3", "3"])
        self.assertEqual(self.same_starts(), [None, None, None])

    def test_a_sampler_with_a_generator_of_its_own_is_not_judged_by_that_of_the_loader(self):
        own = ("shuffle=True)\nfor epoch", "sampler=torch.utils.data.RandomSampler(table, "
               "generator=torch.Generator().manual_seed(1)))\nfor epoch")
        seeds = ("    for (x,) in kept:", "    torch.manual_seed(3)\n    for (x,) in kept:")
        self.assertEqual(self.same_starts(own=own, seeds=seeds)[0], None)

    def test_worker_processes_leave_no_files(self):
        program = textwrap.dedent(
            """
            import torch
            from torch.utils.data import DataLoader, TensorDataset
            if __name__ == "__main__":
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                table = TensorDataset(torch.ones(8, 2))
                for context in ("fork", "spawn"):
                    loader = DataLoader(table, 4, num_workers=1, multiprocessing_context=context)
                    for (x,) in loader:
                        model(x).sum().backward()
                        optimizer.step()
            """
        )
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(program)
            file.flush()
            run = run_watched(python(file.name))
        self.assertEqual(run.status, 0, run.err)
        self.assertEqual([trace.role for trace in run.traces], ["main"])


if __name__ == "__main__":
    unittest.main()
