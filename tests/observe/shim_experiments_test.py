"""What an experiment changes, and that it refuses what it cannot carry out."""

import re
import textwrap
import unittest

from tests.observe.reading import ROOT, host, python, run_watched

LOOP = textwrap.dedent(
    """
    import os, torch, torch.nn.functional as F
    torch.manual_seed(1)
    model = torch.nn.{model}
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    for step in range(20):
        inputs = {inputs}
        loss = {loss}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        torch.save(model.state_dict(), "model.pt")
    model.load_state_dict(torch.load("model.pt"))
    print("saved", os.path.exists("model.pt"), optimizer.param_groups[0]["lr"] < 1e-12)
    """
)
NUMBERS = {"model": "Linear(3, 1)", "inputs": "torch.randn(4, 3)",
           "loss": "F.mse_loss(model(inputs), inputs.sum(1, keepdim=True))"}  # fmt: skip


def losses(run):
    return [row.value for row in run.main.of("quantity", "loss")]


class ShimExperiments(unittest.TestCase):
    def run_loop(self, experiment, source=NUMBERS, **request):
        request.setdefault("reference_rate", 0.1)
        return run_watched(python("-c", LOOP.format(**source)), experiment=experiment, **request)

    def test_the_probe_knows_every_experiment_of_the_engine(self):
        rows = re.findall(r'Experiment::Name::k\w+, "(\w+)"', (ROOT / "checks/engine/experiment.cc").read_text())
        capabilities = run_watched(host("plain")).main.process["capabilities"].split()
        self.assertGreater(len(rows), 10)
        self.assertEqual(sorted(capabilities), sorted(rows))

    def test_all_hosts_fit_one_batch(self):
        for name in ("plain", "closures", "trainer"):
            run = run_watched(host(name), experiment="one_batch", steps=200, reference_rate=0.01)
            self.assertEqual((run.status, len(losses(run))), (0, 200), name + run.err)
            self.assertLess(losses(run)[-1], 0.01, name)

    def test_a_forward_that_builds_the_layers_is_no_batch(self):
        lazy = {"model": "LazyLinear(1); model(torch.zeros(1, 3))", "inputs": "torch.randn(4, 3)",
                "loss": "F.mse_loss(model(inputs), torch.randn(4, 1))"}  # fmt: skip
        run = self.run_loop("one_batch", lazy, steps=20)
        self.assertEqual(run.status, 0, run.err)
        self.assertLess(losses(run)[-1], losses(run)[2] / 2)

    def test_inputs_in_classes_of_the_program_and_ones_that_ask_for_a_gradient_stand_in(self):
        begin = ("Linear(3, 1); import collections, dataclasses; Pair = collections.namedtuple('Pair', 'x n'); "
                 "Data = dataclasses.dataclass(type('Data', (), {'__annotations__': {'x': torch.Tensor}}))")
        for inputs, call in (("Pair(torch.randn(4, 3), 1)", "model(inputs.x)"),
                             ("Data(torch.randn(4, 3))", "model(inputs.x)"),
                             ("torch.randn(4, 3).requires_grad_()", "model(inputs)")):
            model = begin if call == "model(inputs)" else (
                begin + "; layer = model; model = type('Net', (torch.nn.Module,), "
                "{'forward': lambda self, inputs: layer(inputs.x)})(); model.layer = layer")
            source = {"model": model, "inputs": inputs,
                      "loss": "F.mse_loss(model(inputs), torch.randn(4, 1))"}
            run = self.run_loop("one_batch", source, steps=20)
            self.assertEqual(run.status, 0, run.err)
            self.assertNotIn("refused", run.main.process)
            self.assertLess(losses(run)[-1], losses(run)[2] / 2, inputs)

    def test_a_model_that_is_given_what_is_not_known_is_not_fitted(self):
        source = {"model": "Linear(3, 1); layer = model; Own = type('Own', (), {}); "
                           "model = type('Net', (torch.nn.Module,), "
                           "{'forward': lambda self, own: layer(own.x)})(); model.layer = layer",
                  "inputs": "Own(); inputs.x = torch.randn(4, 3)",
                  "loss": "F.mse_loss(model(inputs), torch.randn(4, 1))"}  # fmt: skip
        run = self.run_loop("one_batch", source, steps=20)
        self.assertIn("is called with a Own", run.main.process["refused"])

    def test_no_host_learns_blindly(self):
        for name in ("plain", "closures", "trainer"):
            run = run_watched(host(name), experiment="mean_inputs", steps=200, reference_rate=0.01)
            self.assertEqual(run.status, 0, name + run.err)
            self.assertGreater(sum(losses(run)[-20:]) / 20, 2.2, name)

    def test_the_reference_optimizer_takes_the_place_of_the_programs(self):
        run = self.run_loop("reference", steps=20)
        (stepping,) = {row.thing for row in run.main.of("event", "step")}
        self.assertEqual(run.main.attributes[stepping]["type"], "Adam")
        self.assertEqual({row.value for row in run.main.of("quantity", "learning_rate")}, {0.1})
        self.assertLess(losses(run)[-1], losses(run)[0] / 2)

    def test_the_same_seed_changes_nothing_but_the_end(self):
        plain, again = self.run_loop("plain"), self.run_loop("same_seed", steps=12)
        self.assertEqual(losses(plain)[:12], losses(again))
        self.assertEqual(again.main.rows[-1].name, "stopped")
        self.assertEqual((again.status, again.out), (0, ""))

    def test_what_cannot_be_carried_out_is_refused(self):
        words = {"model": "Embedding(9, 2)", "inputs": "torch.randint(9, (4,))",
                 "loss": "F.cross_entropy(model(inputs), inputs % 2)"}  # fmt: skip
        own_loss = {**NUMBERS, "loss": "(model(inputs) - 1).square().mean()"}
        cases = [
            ("mean_inputs", words, "have no mean"),
            ("one_batch", own_loss, "the loss is not one of"),
            ("one_batch", {**NUMBERS, "model": "Sequential(torch.nn.Linear(3, 1))",
                           "loss": "F.mse_loss(model[:1](inputs), inputs.sum(1, keepdim=True))"},
             "call a different model"),
            ("upside_down", NUMBERS, "does not know experiment"),
        ]
        for experiment, source, reason in cases:
            run = self.run_loop(experiment, source)
            self.assertEqual(run.status, 0, run.err)
            self.assertIn(reason, run.main.process["refused"])
            self.assertLessEqual(len(run.main.of("event", "step")), 2)

    def test_capabilities_are_said_first(self):
        run = self.run_loop("plain")
        self.assertEqual(
            run.main.process["capabilities"],
            "plain same_seed one_batch reference mean_inputs shuffled_labels limited_data trials fixed_batch "
            "interrupted resumed replay multi_process single_process zero_lr",
        )


if __name__ == "__main__":
    unittest.main()
