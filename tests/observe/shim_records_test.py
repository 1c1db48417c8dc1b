"""What the shim records of programs that are as they should be."""

import textwrap
import unittest

from tests.observe import shim_attention_reach_test as reach
from tests.observe import shim_broadcast_pairs_test as pairs
from tests.observe import shim_classes_and_pairs_test as classes
from tests.observe import shim_compared_test as compared
from tests.observe import shim_derivatives_test as derivatives
from tests.observe import shim_dropout_test as dropout
from tests.observe import shim_fed_rows_test as fed
from tests.observe import shim_frozen_by_name_test as frozen
from tests.observe import shim_graph_scan_test as axes
from tests.observe import shim_held_test as arrangements
from tests.observe import shim_idle_statements_test as statements
from tests.observe import shim_learned_weights_test as learned
from tests.observe import shim_listed_twice_test as twice
from tests.observe import shim_loaded_test as loaded
from tests.observe import shim_loss_values_test as values
from tests.observe import shim_meanings_test as meanings
from tests.observe import shim_metric_divisors_test as divisors
from tests.observe import shim_metrics_test as metrics
from tests.observe import shim_noising_test as noising
from tests.observe import shim_packed_test as packed
from tests.observe import shim_policies_test as policies
from tests.observe import shim_raised_errors_test as raised
from tests.observe import shim_ranks_test as ranks
from tests.observe import shim_replay_test as replay
from tests.observe import shim_reseeding_test as reseeding
from tests.observe import shim_split_test as splits
from tests.observe import shim_stated_test as stated
from tests.observe import shim_targets_test as targets
from tests.observe import shim_terms_test as terms
from tests.observe import shim_trials_test as dependence
from tests.observe import shim_uninitialized_momentum_test as momentum
from tests.observe import shim_unregistered_test as unregistered
from tests.observe import shim_unreset_metrics_test as unreset
from tests.observe import shim_wrong_batches_test as batches
from tests.observe import shim_zero_rate_test as zero_rate
from tests.observe.reading import defined, host, python, run_watched
from tests.observe.shim_libraries_test import PROGRAM as NEXT_TOKENS

# Calls that none of the three hosts makes.
OTHER_CALLS = textwrap.dedent(
    """
    import torch, torch.nn.functional as F
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Dropout(0.5))
    torch.save(model.state_dict(), "weights.pt")
    model.load_state_dict(torch.load("weights.pt"))
    average = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    torch.autograd.set_detect_anomaly(True)
    for step in range(4):
        model[0].bias.requires_grad = step != 1
        bad = float("inf") if step == 2 else 1.0
        loss = F.mse_loss(model(torch.ones(5, 3)), torch.zeros(5, 2)) * bad
        loss += F.cross_entropy(model(torch.ones(5, 3)), torch.tensor([0, 1, 0, 1, -100]))
        loss += F.nll_loss(model(torch.ones(5, 3)), torch.tensor([0, 1, 0, 1, 1]))
        loss += F.mse_loss(model(torch.ones(5, 3)).tanh(), torch.zeros(5, 2))
        if step != 1:
            optimizer.zero_grad()
        with torch.autograd.set_detect_anomaly(step != 2):
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            scaler.step(optimizer)
        scaler.update()
        schedule.step()
        average.update_parameters(model)
        torch.save(model.state_dict(), "weights.pt")
        with torch.no_grad():
            F.mse_loss(model(torch.ones(5, 3)), torch.zeros(5, 2))
    """
)

# Workers that draw random numbers.
WORKERS = textwrap.dedent(
    """
    import torch

    class Noise(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return torch.rand(3)

    if __name__ == "__main__":
        model = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for batch in torch.utils.data.DataLoader(Noise(), batch_size=2, num_workers=2):
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
    """
)

# Reads of what passes for an accelerator, and a word to the other processes of a group of one.
ACCELERATED = textwrap.dedent(
    """
    import tempfile, torch
    from dlcheck_shim.hooks import host_reads
    host_reads.on_accelerator = lambda tensor: True
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with tempfile.TemporaryDirectory() as folder:
        file = "file://" + folder + "/meeting"
        torch.distributed.init_process_group("gloo", init_method=file, rank=0, world_size=1)
        for step in range(2):
            loss = model(torch.ones(2, 3)).sum()
            loss.backward()
            optimizer.step()
            loss.item()
            torch.distributed.all_reduce(model.weight.grad)
            model.load_state_dict(model.state_dict())
        torch.distributed.destroy_process_group()
    """
)


class ShimRecords(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hosts = {name: run_watched(host(name)) for name in ("plain", "closures", "trainer")}
        cls.other = run_watched(python("-c", OTHER_CALLS))
        cls.workers = run_watched(python("-c", WORKERS))

    def test_hold_every_event_and_quantity_that_python_writes(self):
        runs = [*self.hosts.values(), self.other]
        capped = run_watched(host("plain"), size_cap_bytes=64 * 64)
        stopped = run_watched(host("plain"), experiment="same_seed", steps=3)
        accelerated = run_watched(python("-c", ACCELERATED))
        runs += [capped, stopped, self.workers, accelerated]
        runs += [run_watched(python("-c", NEXT_TOKENS)), metrics.runs()[1]]
        runs.append(derivatives.trials(derivatives.RIGHT))
        traces = [trace for run in runs for trace in run.traces]
        for places in ({}, dependence.OF_ALL_LENGTHS, {"TARGETS": "batch[:, :-1]"}):
            traces.append(dependence.tried(**places))
        traces += [run_watched(python("-c", program)).main for program in targets.PROGRAMS]
        traces.append(packed.tried(SEEN="before"))
        traces.append(terms.tried("main + aux").main)
        traces.append(loaded.compared())
        for experiment in ("shuffled_labels", "limited_data"):
            traces.append(loaded.run_of(experiment=experiment, steps=16).main)
        traces.append(arrangements.held())
        traces.append(arrangements.held(loss="F.cross_entropy(outputs, targets) + outputs.data.mean()"))
        traces.append(splits.held(loss=splits.MEAN))
        skipped = {"layer": "torch.nn.ReLU()", "inside": "if number == 1: continue"}
        traces.append(splits.held(loss=splits.MEAN, **skipped))
        traces.append(unregistered.trace_of(USE="y = nn.Linear(6, 6)(y)"))
        traces.append(run_watched(python("-c", reseeding.seeded("torch.manual_seed(3)"))).main)
        traces.append(zero_rate.trace_of("layer.weight.mul_(0.999)"))
        traces.append(replay.trace_of(INSIDE="(h * (1 - at)).log()"))
        traces.append(momentum.run().main)
        traces.append(twice.listed("[*net.parameters(), body.weight],"))
        traces += [dropout.run("F.dropout(x)").main, statements.run_of_a_file().main]
        traces.append(axes.run(split=axes.UNSPLIT, weights=axes.OVER_QUERIES).main)
        traces += [run_watched(python("-c", text)).main for text in (
            fed.DRAWN.replace("BATCH", "x[torch.arange(20)]"), fed.TEXTS.replace("WIDTH", "8").replace("INPUT", "ids").replace("TARGET", "ids % 2").replace("END", "1"), stated.program(True), compared.program(True), compared.words(), values.texts('1'), reach.program(reach.OWN.format('hidden'), reach.NEXT), reach.program(reach.OWN.format('later.mT'), reach.WORDS), raised.program(raised.RAISED[0])[-1], stated.empty_loop(5), stated.cut_off("h.detach()", True))]  # fmt: skip
        traces += [twins.run_of(0).main for twins in (meanings.Meanings, learned.LearnedWeights, classes.ClassesAndPairs, unreset.Watched, divisors.Watched,
                                                       pairs.Watched, frozen.FrozenByName, batches.WrongBatches, policies.Policies, policies.UnkeptActions, noising.Noising)]  # fmt: skip
        traces += ranks.traces_of(ranks.program())
        traces += ranks.traces_of(ranks.program(wrap=ranks.SHARDED, share=ranks.SAVED))
        rows = [row for trace in traces for row in trace.rows]
        self.assertEqual(
            defined("quantity.def", "P") - {r.name for r in rows if r.kind == "quantity"}, set()
        )
        self.assertEqual(
            defined("event.def", "P") - {r.name for r in rows if r.kind == "event"}, set()
        )

    def test_programs_end_as_they_do_alone(self):
        for name, run in self.hosts.items():
            self.assertEqual(run.status, 0, name + run.err)
            self.assertFalse([key for key in run.main.process if "failed" in key], name)

    def test_every_step_is_a_record_or_in_a_gap(self):
        steps = {"plain": 400, "closures": 250, "trainer": 264}
        for name, run in self.hosts.items():
            for event in ("step", "backward"):
                seen = len(run.main.of("event", event))
                seen += sum(row.value for row in run.main.of("gap", event))
                self.assertEqual(seen, steps[name], (name, event))

    def test_loss_and_rate_are_there_at_every_step(self):
        for run in self.hosts.values():
            for quantity in ("loss", "learning_rate"):
                rows = run.main.of("quantity", quantity)
                self.assertEqual([row.step for row in rows], list(range(len(rows))))

    def test_parameters_are_described(self):
        names = {
            "plain": ["0.weight", "0.bias", "2.weight", "2.bias"],
            "closures": ["0.weight", "0.bias", "4.weight", "4.bias"],
            "trainer": ["trunk.weight", "norm.weight", "norm.bias", "head.weight",
                        "head.bias"],
        }  # fmt: skip
        for host_name, expected in names.items():
            found = {k: v for k, v in self.hosts[host_name].main.attributes.items()
                     if k[0] == "parameter"}  # fmt: skip
            self.assertEqual([key[2] for key in found], expected)
            for attributes in found.values():
                self.assertEqual(attributes["optimizer"], "optimizer#0/group#0")
        head = self.hosts["trainer"].main.attributes[("parameter", "0", "head.weight")]
        self.assertEqual((head["shape"], head["elements"]), ("10x48", "480"))
        self.assertEqual(head["module"], "head")

    def test_places_are_lines_of_the_program(self):
        for row in self.hosts["trainer"].main.of("event", "backward")[:3]:
            self.assertEqual(row.site[0][-17:], "digits_trainer.py")
            self.assertEqual(row.site[2], "training_step")

    def test_initial_losses_are_those_of_the_outputs(self):
        for run in self.hosts.values():
            first = {row.name: row for row in run.main.rows if row.name.endswith("_loss")}
            samples = first["initial_loss"].aux
            self.assertGreaterEqual(samples, 50)
            self.assertAlmostEqual(first["initial_loss"].value, 2.35, delta=0.1)
            self.assertAlmostEqual(first["constant_loss"].value, 2.28, delta=0.03)
            self.assertAlmostEqual(first["independent_loss"].value, 2.35, delta=0.1)

    def test_a_held_back_step_counts_and_is_skipped(self):
        main = self.other.main
        self.assertEqual(self.other.status, 0, self.other.err)
        self.assertEqual([row.step for row in main.of("event", "skipped")], [2])
        self.assertEqual([row.step for row in main.of("event", "step")], [0, 1, 3])
        self.assertEqual([row.value for row in main.of("event", "unscale")], [4, 4, 4, 2])
        self.assertEqual(
            [row.name for row in main.rows if row.name in ("saved", "loaded")],
            ["saved", "loaded", "loaded", *["saved"] * 4],  # from the file, and into the model
        )

    def test_a_state_goes_into_the_model_that_is_meant(self):
        program = textwrap.dedent(
            """
            import torch
            model, other = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            def train(step):
                optimizer.zero_grad()
                model(torch.ones(5, 3)).sum().backward()
                optimizer.step()
            model.load_state_dict(other.state_dict())
            train(0)
            other.load_state_dict(model.state_dict())
            model.load_state_dict(other.state_dict())
            train(1)
            """
        )
        main = run_watched(python("-c", program)).main
        used = main.of("event", "used")[0].thing
        loaded = [row.thing for row in main.of("event", "loaded")]
        self.assertEqual([thing == used for thing in loaded], [True, False, True], loaded)

    def test_what_a_model_shares_or_leaves_out_is_said(self):
        program = textwrap.dedent(
            """
            import torch
            class Tied(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.into = torch.nn.Linear(4, 4, bias=False)
                    self.back = torch.nn.Linear(4, 4, bias=False)
                    self.back.weight = self.into.weight
                    self.left_out = torch.nn.Linear(4, 4, bias=False)
                def forward(self, x):
                    return self.left_out(self.back(self.into(x)))
            model, loose = Tied(), torch.nn.Parameter(torch.ones(1))
            optimizer = torch.optim.SGD([model.into.weight, loose], lr=0.1)
            for step in range(3):
                optimizer.zero_grad()
                (model(torch.ones(2, 4)) * loose).sum().backward()
                optimizer.step()
            """
        )
        found = run_watched(python("-c", program)).main.attributes
        self.assertEqual(found[("parameter", "0", "into.weight")]["alias"], "back.weight")
        left_out = found[("parameter", "0", "left_out.weight")]
        self.assertEqual(left_out["gradient_seen"], "1")
        self.assertNotIn("optimizer", left_out)
        self.assertEqual(found[("parameter", "0", "optimizer#0/group#0/1")]["orphan"], "1")

    def test_a_full_file_ends_the_records_and_not_the_program(self):
        run = run_watched(host("plain"), size_cap_bytes=64 * 100)
        self.assertEqual(run.status, 0)
        self.assertEqual(run.main.rows[-1].name, "quiet")
        self.assertIn("cap of 6400 bytes", run.main.process["quiet"])

    def test_a_value_that_is_not_finite_is_kept_in_any_step(self):
        program = textwrap.dedent(
            """
            import torch
            model = torch.nn.Linear(2, 1, bias=False)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
            for step in range(150):
                optimizer.zero_grad()
                model(torch.full((1, 2), float("nan") if step == 140 else 1.0)).sum().backward()
                optimizer.step()
            """
        )
        main = run_watched(python("-c", program)).main
        found = [row for row in main.of("quantity", "gradient_norm") if row.step == 140]
        self.assertEqual([row.aux for row in found], [2])
        self.assertNotIn(140, [row.step for row in main.of("event", "step")])

    def test_a_child_that_trains_has_files_of_its_own(self):
        program = textwrap.dedent(
            """
            import os, torch
            def train():
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            train()
            if os.fork() == 0:
                train()
                os._exit(0)
            os.wait()
            """
        )
        run = run_watched(python("-c", program))
        self.assertEqual(sorted(trace.role for trace in run.traces), ["child", "main"])
        for trace in run.traces:
            self.assertEqual([row.step for row in trace.of("event", "step")], [0])


if __name__ == "__main__":
    unittest.main()
