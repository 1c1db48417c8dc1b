"""What the probe states of numbers that it compares with each other, in one program that has many faults and in its
twin that has none of them."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

# Pairs of what stands in the program with the fault, and in its twin.
PARTS = {
    "EDIT": ("x *= 0.9", "x = x * 0.9"),
    "PLACES": ("torch.zeros(4, dtype=torch.long)", "torch.arange(4)"),
    "EPSILON": ("10.0", "1e-5"),
    "MODE": ("False", "True"),
    "STEEP": ("1e4", "1"),
    "FILLED": ("-3.0", "-torch.inf"),
    "STATE": ("self.state if self.training else None", "None"),
    "TRAINED": ("False", "True"),
    "TEACHER": ("True", "False"),
    "INDICES": ("range(30)", "range(40)"),
    "TWICE": ("x[:20].repeat(2, 1)", "x"),
    "RAW": ("x.repeat(4, 1) * 255 + 90", "x.repeat(4, 1)"),
    "TINY": ("10.0", "1e-8"),
    "MICRO": ("9", "2"),
    "GROW": ("1.3", "1.0"),
    "HELD": ("float('inf')", "1.0"),
    "EARLY": ("scaler.unscale_(scaled)", "pass"),
    "DECAY": ("0.1", "0.0"),
    "OVER": ("0", "1"),
}
PROGRAM = textwrap.dedent(
    """
    import copy, torch, torch.nn as nn, torch.nn.functional as F
    from torch.utils.data import DataLoader, Dataset
    torch.manual_seed(0)
    x = torch.randn(40, 8)
    class Rows(Dataset):
        def __init__(self):
            self.x = TWICE.clone()
        def __len__(self):
            return 40
        def __getitem__(self, number):
            x = self.x[number]
            EDIT
            return x, number % 3
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.places, self.past = nn.Embedding(6, 8), nn.GRU(8, 8, batch_first=True)
            self.frozen, self.norm, self.batch = nn.Linear(8, 640), nn.LayerNorm(8, eps=EPSILON), nn.BatchNorm1d(8)
            self.frozen.weight.requires_grad_(TRAINED)
            self.steep, self.before, self.head = nn.Linear(8, 16), nn.Linear(8, 8, bias=not MODE), nn.Linear(16, 3)
            self.normed, self.state = nn.BatchNorm1d(8), None
            with torch.no_grad():
                self.steep.weight *= STEEP
        def forward(self, x):
            self.batch.train(MODE and self.training)
            h = self.norm(x) + self.batch(x) + self.places(PLACES).sum(0) + self.frozen(x).mean(1, keepdim=True)
            out, state = self.past(h[:, None], STATE)
            self.state = state.detach() if self.training else self.state
            scores = (h @ h.T / 40).masked_fill(torch.ones(len(h), len(h)).triu(1).bool(), FILLED)
            h = h + h.softmax(OVER)
            h = self.normed(self.before(scores.softmax(-1) @ h)) + out[:, 0]
            return self.head(torch.tanh(self.steep(h.repeat(4, 1))))[: len(x)]
    net, half = Net(), nn.Linear(3, 2).bfloat16()
    teacher = nn.Sequential(nn.Linear(8, 3), nn.Dropout(0.5)).train(TEACHER)
    trained = [weight for weight in net.parameters() if weight.requires_grad]
    optimizer, low = torch.optim.AdamW(trained, lr=1e-3, eps=TINY), torch.optim.SGD(half.parameters(), lr=1e-3)
    lone = nn.Linear(8, 8)
    scaled, scaler = torch.optim.SGD(lone.parameters(), lr=1e-9), torch.amp.GradScaler("cpu", init_scale=HELD)
    schedule = torch.optim.lr_scheduler.ConstantLR(scaled)
    loader, partial = DataLoader(Rows(), 10, shuffle=True), DataLoader(range(40), 10, sampler=INDICES)
    for epoch in range(9):
        for x, y in loader:
            optimizer.zero_grad()
            with torch.no_grad():
                target = teacher(x)
            scores = net(x)
            (F.cross_entropy(scores, y) + F.mse_loss(scores, target)).backward()
            with torch.no_grad():
                for weight in trained:
                    weight.grad += DECAY * weight
            optimizer.step()
            with torch.no_grad():
                net.head.weight *= GROW
        with torch.no_grad():
            net.eval()
            net(RAW)
            net.train()
            list(partial)
    for step in range(3):
        low.zero_grad()
        for micro in range(MICRO):
            half(torch.ones(2, 3).bfloat16()).float().sum().backward()
        low.step()
        scaled.zero_grad()
        scaler.scale(lone(torch.ones(3, 8)).mean()).backward()
        EARLY
        scaler.scale(lone(torch.ones(3, 8)).mean()).backward()
        scaler.step(scaled)
        scaler.update()
        schedule.step()
    print(net.head.weight.sum().item(), torch.rand(1).item())
    """
)

# A classifier of words whose head begins with the numbers of the embedding, or is that, and which nobody evaluates,
# or somebody does.
WORDS = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.head = nn.Embedding(9, 8), nn.Linear(8, 9, bias=False)
            self.head.weight = TIED
        def forward(self, x):
            return self.head(self.words(x).relu())
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(100):
        optimizer.zero_grad()
        F.cross_entropy(net(torch.arange(18) % 9), (torch.arange(18) % 9).roll(1)).backward()
        optimizer.step()
    EVALUATED
    """
)
# Each batch is given to the model twice, and the scale of the loss falls below 1.
TWICE = textwrap.dedent(
    """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    layer = torch.nn.Linear(10, 1)
    optimizer, scaler = torch.optim.SGD(layer.parameters(), lr=0.01), torch.amp.GradScaler("cpu", init_scale=0.25)
    for x, in DataLoader(TensorDataset(torch.randn(40, 10)), batch_size=10):
        layer(x).mean().backward()
        optimizer.zero_grad()
        scaler.scale(layer(x).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
    """
)
# A loss scaler divides the gradients after the weights were added to them.
SCALED_DECAY = textwrap.dedent(
    """
    import torch
    torch.manual_seed(0)
    layer = torch.nn.Linear(10, 1)
    optimizer, scaler = torch.optim.Adam(layer.parameters(), lr=0.01), torch.amp.GradScaler("cpu", init_scale=3.0)
    for _ in range(4):
        optimizer.zero_grad()
        scaler.scale(layer(torch.randn(20, 10)).mean()).backward()
        layer.weight.grad += DECAY * layer.weight.detach()
        scaler.step(optimizer)
        scaler.update()
    """
)
# A learned number comes first, and its gradient, like all others, has noise added to it.
NOISED = textwrap.dedent(
    """
    import torch
    torch.manual_seed(0)
    scale, layer = torch.nn.Parameter(torch.ones(())), torch.nn.Linear(10, 1)
    optimizer = torch.optim.SGD([scale, *layer.parameters()], lr=0.01)
    for _ in range(8):
        optimizer.zero_grad()
        (scale * layer(torch.randn(20, 10))).square().mean().backward()
        for parameter in (scale, *layer.parameters()):
            parameter.grad += 0.01 * parameter.grad.abs() * torch.rand_like(parameter)
        optimizer.step()
    """
)
COPY, EVALUATION = "nn.Parameter(self.words.weight.detach().clone())", "with torch.no_grad(): net(torch.arange(9))"


def words(tied=COPY, evaluated="pass"):
    return WORDS.replace("TIED", tied).replace("EVALUATED", evaluated)


def program(faulty):
    text = PROGRAM
    for name, pair in PARTS.items():
        text = text.replace(name, pair[0 if faulty else 1])
    return text


# By quantity: value and aux of the last time that it is stated; None for one that depends on rounding.
STATED = {
    "weight_behind_mask": None, "bias_before_norm": (1, 0), "saturated_units": (1, 16), "only_row": (0, 6),
    "small_variance": (1, 10), "initial_statistics": (1, 0), "carried_state": (35, 0), "frozen_in_training_mode": (36, 0),
    "frozen_as_made": None, "undrawn_samples": (10, 40), "edited_samples": None, "repeated_samples": (20, 40),
    "evaluation_scale": None, "epsilon_share": (1, 10), "half_accumulation": (9, 8), "weight_growth": None,
    "softmax_over_samples": (10, 1), "counted_anyway": (3, 3), "unscaled_early": (3, 0), "decay_in_gradients": None,
}  # fmt: skip


class ShimCompared(unittest.TestCase):
    def last(self, faulty):
        run = run_watched(python("-W", "ignore", "-c", program(faulty)))
        self.assertEqual(run.status, 0, run.err)
        rows = {name: run.main.of("quantity", name) for name in STATED}
        return {name: (round(found[-1].value, 6), found[-1].aux) for name, found in rows.items() if found}

    def test_each_fault_is_stated_with_its_numbers(self):
        found = self.last(True)
        for name, expected in STATED.items():
            with self.subTest(name):
                self.assertIn(name, found)
                self.assertEqual(found[name], expected or found[name])

    def test_of_the_twin_nothing_is_stated_but_that_its_scales_agree(self):
        found = self.last(False)
        ratio, shift = found.pop("evaluation_scale")
        self.assertEqual(found, {})
        self.assertLess(max(ratio, 1 / ratio), 2)
        self.assertLess(abs(shift), 1)

    def test_a_head_that_began_as_a_copy_is_told_once_it_differs_and_a_tied_one_is_not(self):
        for tied, expected in ((COPY, ["head.weight"] * 3), ("self.words.weight", [])):
            rows = run_watched(python("-c", words(tied))).main.of("quantity", "copied_tie")
            self.assertEqual([row.thing[2] for row in rows], expected)

    def test_that_a_classifier_is_not_evaluated_is_told_at_the_end(self):
        for evaluated, expected in (("pass", [100]), (EVALUATION, []), ("net.eval()(torch.arange(9))", [])):
            rows = run_watched(python("-c", words(evaluated=evaluated))).main.of("quantity", "no_evaluation")
            self.assertEqual([row.value for row in rows], expected, evaluated)

    def test_a_batch_that_is_used_twice_and_a_scale_below_one_are_no_faults(self):
        run = run_watched(python("-c", TWICE))
        self.assertEqual(run.err, "")
        self.assertEqual([run.main.of("quantity", name) for name in ("repeated_samples", "gradient_factor")], [[], []])

    def test_whatever_is_done_to_a_single_number_is_no_factor(self):
        run = run_watched(python("-c", NOISED))
        self.assertEqual((run.err, run.main.of("quantity", "gradient_factor")), ("", []))

    def test_decay_is_told_as_the_scaler_leaves_it_and_its_division_is_none(self):
        for decay, expected in ((0.3, 4 * [0.1]), (0.0, [])):
            run = run_watched(python("-c", SCALED_DECAY.replace("DECAY", str(decay))))
            found = [row.value for row in run.main.of("quantity", "decay_in_gradients")]
            self.assertEqual([round(share, 3) for share in found], expected)
            self.assertEqual(run.main.of("quantity", "gradient_factor"), [])

    def test_what_the_program_prints_is_the_same(self):
        command = python("-W", "ignore", "-c", program(True))
        self.assertEqual(run_watched(command).out, run_unwatched(command).out)


if __name__ == "__main__":
    unittest.main()
