"""What the probe states of one program that has many faults, and of its twin that has none of them."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

# Pairs of what stands in the program with the fault, and in its twin.
PARTS = {
    "SCORES": ("(self.query(x) @ self.key(x).mT).softmax(-1)", "(self.query(x) @ self.key(x).mT / 4).softmax(-1)"),
    "PAIR": ("self.narrow(self.wide(x))", "self.narrow(self.wide(x).relu())"),
    "TWICE": ("h.sigmoid().sigmoid()", "h.sigmoid()"),
    "SHIFT": ("100", "0"),
    "EVEN": ("nn.init.constant_(self.even.weight, 0.1)", ""),
    "MASK": ("self.mask = nn.Parameter(torch.tril(torch.ones(5, 5)))",
             "self.register_buffer('mask', torch.tril(torch.ones(5, 5)))"),
    "ROWS": ("2", "12"),
    "LABELS": ("1 + torch.arange(60) % 3", "torch.arange(60) % 4"),
    "RARE": ("12", "3"),
    "WEIGHT": ("weight=torch.tensor([1.0, 2.0])", "weight=torch.tensor([2.0, 1.0])"),
    "MEAN": ("losses.mean()", "(losses.sum() / (labels >= 0).sum())"),
    "KIND": ("h.half()", "h.float()"),
    "HALF": ("float16", "bfloat16"),
    "WRONG": ("x[0, 0, :3]", "x"),
    "GROWTH": ("1e30", "1"),
    "FIRST": ("False", "True"),
    "FACTOR": ("3", "1"),
    "DROPPED": ("0.95", "0.5"),
    "LAYERS": ("[nn.Linear(2, 2)] * 3", "[nn.Linear(2, 2), nn.Linear(2, 2)]"),
    "ANSWER": ("step % 2", "0"),
    "CLIPPED": ("nn.utils.clip_grad_value_(net.parameters(), 1e35)", "pass"),
    "VALUES": ("values", "values.detach()"),
    "PLATEAU": ("(step + 1) / 40", "1 / (step + 1)"),
    "ROUNDED": (".half()", ".float()"),
    "PADDED": ("tokens != 0", "tokens == 0"),
    "EMPTY": ("torch.cuda.empty_cache()", "pass"),
    "PRECISION": ("medium", "highest"),
}  # fmt: skip
PROGRAM = textwrap.dedent(
    """
    import tempfile, torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.query, self.key = nn.Linear(16, 16), nn.Linear(16, 16)
            self.wide, self.narrow, self.last = nn.Linear(16, 64), nn.Linear(64, 32), nn.Linear(32, 4)
            self.other, self.even, self.norm = nn.Linear(16, 8), nn.Linear(16, 8), nn.BatchNorm1d(32)
            self.order = nn.GRU(16, 16, batch_first=FIRST)
            self.words, self.see = nn.Embedding(9, 16), nn.MultiheadAttention(16, 2, batch_first=True)
            self.drop, self.layers = nn.Dropout(DROPPED), nn.ModuleList(LAYERS)
            EVEN
            MASK
        def forward(self, tokens, x):
            words = self.words(tokens)
            x = x + self.order(words)[0] + self.see(words, words, words, key_padding_mask=PADDED)[0]
            x = SCORES @ x + (self.mask.sum() + sum(layer(x[0, :2, :2]).sum() for layer in self.layers)) * 0
            h = PAIR
            zeros = (self.other(x) - SHIFT).relu().sum() + self.even(x).square().mean()
            return self.last(TWICE).flatten(0, 1), self.norm(h[:ROWS, 0]).square().mean() + zeros, h
    net = Net()
    lone, norm = nn.Linear(3, 2), nn.LayerNorm(3)ROUNDED
    critic, first = nn.Linear(3, 1), torch.zeros(2, 1, dtype=torch.long)
    optimizer, alone = (torch.optim.SGD(model.parameters(), lr=0.001) for model in (net, lone))
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(alone)
    for step in range(40):
        x, labels = torch.randn(12, 5, 16), LABELS
        tokens = 1 + torch.arange(60).reshape(12, 5) % 8
        tokens[:, 3:] = 0
        optimizer.zero_grad()
        try:
            net(tokens, WRONG)
        except (RuntimeError, IndexError, ValueError):
            pass
        with torch.autocast("cpu", torch.HALF):
            scores, rest, h = net(tokens, x)
        F.cross_entropy(scores.float()[::5], labels[::5]).backward(retain_graph=True)
        labels[:7] = -100
        losses = F.cross_entropy(scores.float(), labels, reduction="none")
        MEAN.backward(retain_graph=True)
        pairs = F.log_softmax(scores.float()[::5, :2], 1)
        rest = rest + F.nll_loss(pairs, (torch.arange(12) % RARE > 0).long(), WEIGHT)
        (rest + F.l1_loss(KIND, torch.zeros_like(KIND))).float().backward()
        for weight in net.parameters():
            weight.grad.mul_(GROWTH)
        CLIPPED
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for weight in net.even.parameters():
            weight.grad.fill_(1.0)
        optimizer.step()
        alone.zero_grad()
        last = norm(torch.ones(2, 3)ROUNDED).float().sum() * 0
        last = last + F.cross_entropy(lone(torch.ones(1, 3)), torch.tensor([ANSWER]))
        values = critic(torch.ones(2, 3))[:, 0]
        last = last + (F.log_softmax(lone(torch.ones(2, 3)), 1).gather(1, first)[:, 0] * VALUES).sum() * 0
        last.backward()
        lone.weight.grad.mul_(FACTOR)
        alone.step()
        plateau.step(PLATEAU)
        EMPTY
    weights = {name: weight.detach()ROUNDED for name, weight in lone.named_parameters()}
    with tempfile.NamedTemporaryFile() as file:
        torch.save({"model": weights, "optimizer": alone.state_dict()}, file.name)
    torch.set_float32_matmul_precision("PRECISION")
    print(net.last.weight.sum().item(), torch.rand(1).item())
    """
)


# A program whose loader gives nothing.
EMPTY_LOOP = textwrap.dedent(
    """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for (x,) in DataLoader(TensorDataset(torch.ones(ROWS, 4)), batch_size=8, drop_last=True):
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
    """
)


# One whose values leave the graph between two layers, and whose evaluation data are drawn anew.
CUT_OFF = textwrap.dedent(
    """
    import torch, torch.nn as nn
    from torch.utils.data import DataLoader, Dataset
    class Words(Dataset):
        def __len__(self):
            return 8
        def __getitem__(self, number):
            words = torch.randint(50, (6,)) if DRAWN else torch.arange(6) + number
            return words, torch.randint(9, ()) if NEW else number
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.first, self.last = nn.Embedding(60, 8), nn.Linear(8, 8), nn.Linear(8, 2)
        def forward(self, x):
            h = self.first(self.words(x))
            h = CUT
            return self.last(h)
    net = Net()
    optimizer, held = torch.optim.SGD(net.parameters(), lr=0.1), DataLoader(Words(), batch_size=4)
    for step in range(3):
        optimizer.zero_grad()
        net(torch.randint(0, 5, (6,))).square().mean().backward()
        optimizer.step()
        with torch.no_grad():
            for words, _ in held:
                net(words)
    """
)


# One whose outputs are of a class that hands each call on, and whose first loss of a step may have too few targets.
CALLS = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    class Named(torch.Tensor):
        pass
    net = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        scores, targets = net(torch.ones(5, 4)).as_subclass(Named), torch.tensor([0, 1, 2, 0, 1])
        try:
            F.cross_entropy(scores, targets[LAST:])
        except ValueError:
            pass
        F.cross_entropy(scores, targets).backward()
        optimizer.step()
        print("loss")
    """
)


def empty_loop(rows):
    return EMPTY_LOOP.replace("ROWS", str(rows))


def cut_off(cut, drawn, new=False):
    return CUT_OFF.replace("CUT", cut).replace("DRAWN", str(drawn)).replace("NEW", str(new))


def program(faulty):
    text = PROGRAM
    for name, pair in PARTS.items():
        text = text.replace(name, pair[0 if faulty else 1])
    return text


# By quantity: value and aux of the last time that it is stated.
STATED = {
    "unscaled_attention": (16, 0), "linear_pair": (64, 16), "repeated_activation": (1, 0), "zero_units": (1, 8),
    "equal_rows": (8, 0), "mask_parameter": (1, 0), "normalized_values": (2, 0), "unused_class": (0, 0),
    "largest_class": (0.916667, 240), "class_weight_order": (1, 2), "ignored_in_mean": (7, 60), "loss_precision": (11, 0),
    "raised_calls": (36, 0), "unscaled_half": (1, 0), "overflowed_norm": (1, 0), "emptied_cache": (32, 64),
    "changed_precision": (1, 0), "swapped_batch_axis": (12, 5), "inverted_mask": (8, 36), "gradient_factor": (3, 2),
    "strong_dropout": (0.95, 0), "repeated_layer": (3, 1), "contradicting_rows": (1, 1), "half_norm": (11, 0),
    "lowered_weights": (1, 0), "weighted_log_probability": (1, 0), "plateau_order": (1, 1),
    "clipped_by_value": (1e35, 0),
}  # fmt: skip
IN_THE_TWIN = {"unused_class": (-1, -1), "class_weight_order": (-1, 2), "plateau_order": (-1, 0)}


class ShimStated(unittest.TestCase):
    def last(self, faulty):
        run = run_watched(python("-W", "ignore", "-c", program(faulty)))
        self.assertEqual(run.status, 0, run.err)
        rows = {name: run.main.of("quantity", name) for name in STATED}
        rows["unused_class"] = [row for row in rows["unused_class"] if row.thing[2] == "cross_entropy"]
        return {name: (round(found[-1].value, 6), found[-1].aux) for name, found in rows.items() if found}

    def test_each_fault_is_stated_with_its_numbers(self):
        found = self.last(True)
        for name, expected in STATED.items():
            with self.subTest(name):
                self.assertEqual(found.get(name), expected)

    def test_layers_are_named_with_the_line_that_calls_them(self):
        run = run_watched(python("-W", "ignore", "-c", program(True)))
        lines = {"swapped_batch_axis": "17", "inverted_mask": "17", "normalized_values": "21"}
        found = {name: run.main.of("quantity", name)[-1].site[1] for name in lines}
        self.assertEqual(found, lines)

    def test_of_the_twin_nothing_is_stated(self):
        self.assertEqual(self.last(False), IN_THE_TWIN)

    def test_loops_without_a_batch_are_counted_where_nothing_is_trained(self):
        for rows, expected in ((5, [3]), (8, [])):
            run = run_watched(python("-c", empty_loop(rows)))
            self.assertEqual([row.value for row in run.main.of("quantity", "empty_passes")], expected)

    def test_a_layer_behind_which_values_leave_the_graph_is_told_with_the_line_of_the_next(self):
        for cut in ("h.detach()", "(h > 0).float()", "torch.tensor(h.tolist())"):
            rows = run_watched(python("-c", cut_off(cut, False))).main.of("quantity", "graph_cut")
            self.assertEqual([(row.thing[2], row.value, row.site[1]) for row in rows],
                             [("words", 2, "17"), ("first", 2, "17")], cut)  # fmt: skip
        self.assertEqual(run_watched(python("-c", cut_off("h.relu()", False))).main.of("quantity", "graph_cut"), [])

    def test_evaluation_data_that_change_are_told_from_the_same_and_from_new_data(self):
        for drawn, new, expected in ((True, False, [(8, 8), (8, 8)]), (False, False, []), (True, True, [])):
            rows = run_watched(python("-c", cut_off("h", drawn, new))).main.of("quantity", "redrawn_rows")
            self.assertEqual([(row.value, row.aux) for row in rows], expected)

    def test_a_call_inside_of_another_is_none_that_raised(self):
        for name, last, expected in (("nested", 0, []), ("raised", 1, [1, 2, 3, 4])):
            run = run_watched(python("-c", CALLS.replace("LAST", str(last))))
            self.assertEqual((run.status, run.out.count("loss")), (0, 4), run.err)
            self.assertEqual([row.value for row in run.main.of("quantity", "raised_calls")], expected, name)

    def test_what_the_program_prints_is_the_same(self):
        command = python("-W", "ignore", "-c", program(True))
        self.assertEqual(run_watched(command).out, run_unwatched(command).out)


if __name__ == "__main__":
    unittest.main()
