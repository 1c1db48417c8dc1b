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
    "PADDED": ("tokens != 0", "tokens == 0"),
    "EMPTY": ("torch.cuda.empty_cache()", "pass"),
    "PRECISION": ("medium", "highest"),
}  # fmt: skip
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.query, self.key = nn.Linear(16, 16), nn.Linear(16, 16)
            self.wide, self.narrow, self.last = nn.Linear(16, 64), nn.Linear(64, 32), nn.Linear(32, 4)
            self.other, self.even, self.norm = nn.Linear(16, 8), nn.Linear(16, 8), nn.BatchNorm1d(32)
            self.order = nn.GRU(16, 16, batch_first=FIRST)
            self.words, self.see = nn.Embedding(9, 16), nn.MultiheadAttention(16, 2, batch_first=True)
            EVEN
            MASK
        def forward(self, tokens, x):
            words = self.words(tokens)
            x = x + self.order(words)[0] + self.see(words, words, words, key_padding_mask=PADDED)[0]
            x = SCORES @ x + self.mask.sum() * 0
            h = PAIR
            zeros = (self.other(x) - SHIFT).relu().sum() + self.even(x).square().mean()
            return self.last(TWICE).flatten(0, 1), self.norm(h[:ROWS, 0]).square().mean() + zeros, h
    net = Net()
    lone = nn.Linear(3, 1)
    optimizer, alone = (torch.optim.SGD(model.parameters(), lr=0.001) for model in (net, lone))
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
        F.cross_entropy(scores.float(), labels).backward(retain_graph=True)
        labels[:7] = -100
        losses = F.cross_entropy(scores.float(), labels, reduction="none")
        MEAN.backward(retain_graph=True)
        pairs = F.log_softmax(scores.float()[::5, :2], 1)
        rest = rest + F.nll_loss(pairs, (torch.arange(12) % RARE > 0).long(), WEIGHT)
        (rest + F.l1_loss(KIND, torch.zeros_like(KIND))).float().backward()
        for weight in net.parameters():
            weight.grad.mul_(GROWTH)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for weight in net.even.parameters():
            weight.grad.fill_(1.0)
        optimizer.step()
        alone.zero_grad()
        lone(torch.ones(4, 3)).mean().backward()
        lone.weight.grad.mul_(FACTOR)
        alone.step()
        EMPTY
    torch.set_float32_matmul_precision("PRECISION")
    print(net.last.weight.sum().item(), torch.rand(1).item())
    """
)


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
    "changed_precision": (1, 0), "swapped_batch_axis": (12, 5), "inverted_mask": (8, 36), "gradient_factor": (3, 3),
}  # fmt: skip
IN_THE_TWIN = {"unused_class": (-1, -1), "class_weight_order": (-1, 2)}


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

    def test_of_the_twin_nothing_is_stated(self):
        self.assertEqual(self.last(False), IN_THE_TWIN)

    def test_what_the_program_prints_is_the_same(self):
        command = python("-W", "ignore", "-c", program(True))
        self.assertEqual(run_watched(command).out, run_unwatched(command).out)


if __name__ == "__main__":
    unittest.main()
