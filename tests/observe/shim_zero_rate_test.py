"""At a learning rate of 0 weights that are scaled by it stay, and what moves them otherwise is seen."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch
    BEFORE
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 1)
    optimizer = torch.optim.OPTIMIZER
    schedule = torch.optim.lr_scheduler.SCHEDULE
    for step in range(16):
        layer(torch.ones(5, 4)).square().mean().backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        with torch.no_grad():
            AFTER
    """
)
ADAM = "Adam(layer.parameters(), lr=0.1, weight_decay=0.1)"


COMPARED = 8  # steps: of twelve, without four in which projections come to rest


def trace_of(after="pass", optimizer=ADAM, before="", schedule="LambdaLR(optimizer, lambda n: 0.5**n)",
             output=False):
    places = {"AFTER": after, "OPTIMIZER": optimizer, "BEFORE": before, "SCHEDULE": schedule}
    source = PROGRAM
    for place, text in places.items():
        source = source.replace(place, text)
    run = run_watched(python("-c", source), experiment="zero_lr", steps=96)
    assert run.status == 0, run.err
    return run.out if output else run.main


def moved(trace):
    return {row.thing[2] for row in trace.of("quantity", "unscaled_change")}


def between(trace):
    return {row.aux for row in trace.of("quantity", "unscaled_direction")}


class ShimZeroRate(unittest.TestCase):
    def test_optimizers_of_torch_rest(self):
        for optimizer in (ADAM, "SGD(layer.parameters(), lr=torch.tensor(0.1), momentum=0.9)",
                          "ASGD(layer.parameters(), lr=0.1)", "Adafactor(layer.parameters())"):  # fmt: skip
            trace = trace_of(optimizer=optimizer)
            self.assertEqual(moved(trace), set(), optimizer)
            counts = [row.value for row in trace.of("quantity", "rested_parameters")]
            self.assertEqual(counts, [2] * COMPARED, optimizer)

    def test_what_the_program_scales_by_its_rate_between_steps_rests(self):
        for rate in ("optimizer.param_groups[0]['lr']", "schedule.get_last_lr()[0]"):
            self.assertEqual(moved(trace_of(f"layer.weight.mul_(1 - 0.1 * {rate})")), set(), rate)

    def test_what_touches_few_weights_is_not_told(self):
        self.assertEqual(moved(trace_of("layer.weight[0, step % 4] = step")), set())

    def test_optimizers_that_are_not_still_are_not_judged(self):
        wrapped = "for group in self.param_groups: group['lr'] = 0.1"
        for own, reason in (
            (wrapped, "sets its own learning rate"),
            ("self.state[self.param_groups[0]['params'][0]]['v'] = torch.ones(1);"
             " self.load_state_dict(self.state_dict())", "was loaded from a file"),
            ("self.param_groups[0]['lr'] = None", "has no learning rate"),
        ):
            step = (f"class Own(torch.optim.SGD):\n    def step(self):\n        {own}\n"
                    "        self.param_groups[0]['params'][0].data.mul_(0.9)\n"
                    "torch.optim.Own = Own")  # fmt: skip
            trace = trace_of(optimizer="Own(layer.parameters(), lr=0.1)", before=step,
                             schedule="StepLR(optimizer, 99)")  # fmt: skip
            self.assertIn(reason, trace.attributes["optimizer", "0", ""]["untried/zero_rate"], own)

    def test_what_comes_to_rest_is_not_told(self):
        largest = "layer.weight.clamp_(-0.3, 0.3)"
        self.assertEqual(moved(trace_of(largest)), set())

    def test_decay_by_hand(self):
        trace = trace_of("layer.weight.mul_(0.999)")
        self.assertEqual(moved(trace), {"weight"})
        for row in trace.of("quantity", "unscaled_change"):
            self.assertAlmostEqual(row.value, 1e-3, delta=3e-4)
        for row in trace.of("quantity", "unscaled_direction"):
            self.assertAlmostEqual(row.value, -1, places=5)
        self.assertEqual(between(trace), {1.0})
        self.assertNotIn("unseen_threads", trace.process)
        self.assertEqual([row.value for row in trace.of("quantity", "unread_rate")], [0.0])

    def test_a_step_that_does_not_read_its_rate(self):
        own = ("class Own(torch.optim.SGD):\n"
               "    def step(self):\n"
               "        for p in self.param_groups[0]['params']:\n"
               "            p.data -= 0.01 * p.grad\n"
               "torch.optim.Own = Own")  # fmt: skip
        trace = trace_of(optimizer="Own(layer.parameters(), lr=0.1)", before=own)
        self.assertEqual(moved(trace), {"weight", "bias"})
        self.assertEqual(between(trace), {0.0})
        self.assertEqual([row.value for row in trace.of("quantity", "unread_rate")], [1.0])

    def test_steps_on_trial_leave_no_trace_in_weights_state_or_draws(self):
        shown = "print(repr(layer.weight.tolist()), torch.initial_seed(), torch.rand(()).item(), [" \
                "v['step'].item() for v in optimizer.state.values()])"
        own = "from dlcheck_shim.experiments.zero_lr import zero_lr as zero_rate"
        tried, untried = (trace_of(shown, before=text, output=True) for text in (
            own, own + "; zero_rate.rate_is_unread = lambda *_: None"))
        self.assertEqual(tried, untried)

    def test_an_optimizer_that_was_given_an_empty_state_is_judged(self):
        prepared = ("class Own(torch.optim.SGD):\n    def __init__(self, *args, **kwargs):\n"
                    "        super().__init__(*args, **kwargs)\n"
                    "        self.load_state_dict(self.state_dict())\ntorch.optim.Own = Own")  # fmt: skip
        trace = trace_of("layer.weight.mul_(0.999)", "Own(layer.parameters(), lr=0.1)", prepared)
        self.assertEqual(moved(trace), {"weight"})

    def test_step_sizes_of_its_own_are_not_judged(self):
        derived = "torch.optim.Own = type('Own', (torch.optim.Rprop,), {})"
        for kind in ("Rprop", "Own"):
            trace = trace_of(optimizer=f"{kind}(layer.parameters(), lr=0.1)", before=derived)
            self.assertIn("step sizes", trace.attributes["optimizer", "0", ""]["untried/zero_rate"])


if __name__ == "__main__":
    unittest.main()
