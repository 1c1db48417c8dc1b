"""What goes by the name of a function of torch is held against its formula, forward and backward; torch's
own is as near to it as rounding allows."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import math, torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    INSTEAD
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.parts, self.out = nn.Embedding(11, 16), nn.Linear(16, 48), nn.Linear(16, 11)
        def forward(self, x):
            q, k, v = self.parts(self.words(x)).view(*x.shape, 3, 4, 4).permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(q, k, v, ATTENTION)
            return self.out(mixed.transpose(1, 2).flatten(2))
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(6):
        x = torch.randint(0, 11, (8, 12))
        optimizer.zero_grad()
        with PRECISION:
            outputs = net(x).flatten(0, 1)
            loss = F.cross_entropy(outputs, x.roll(1, 1).flatten(), LOSS)
        loss.backward()
        optimizer.step()
    """
)
SOUND = {"INSTEAD": "pass", "ATTENTION": "is_causal=True", "LOSS": "ignore_index=-100",
         "PRECISION": "torch.enable_grad()"}  # fmt: skip
TIMES = 8  # the check's setting
# An attention of the program's own; a test makes it wrong in one place.
OWN = """
def quick(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    return scores.softmax(-1) @ v
F.scaled_dot_product_attention = quick
"""


def program(**places):
    source = PROGRAM
    for place, text in {**SOUND, **places}.items():
        source = source.replace(place, text)
    return source


def tried(**places):
    """By function: (the largest share of its error in what rounding explains, attributes)."""
    run = run_watched(python("-c", program(**places)), experiment="trials", steps=5)
    assert run.status == 0, run.err
    found = {}
    for row in run.main.of("quantity", "reference_error"):
        found[row.thing[2]] = max(found.get(row.thing[2], 0), row.value / row.aux)
    return found, {thing[2]: said for thing, said in run.main.attributes.items()
                   if thing and thing[0] == "function"}  # fmt: skip


class ShimReference(unittest.TestCase):
    def test_functions_of_torch_are_as_near_as_rounding_allows(self):
        weighted = "weight=torch.arange(11.0) + 1, reduction='sum'"
        for places in (
            {},
            {"ATTENTION": "dropout_p=0.2", "LOSS": "label_smoothing=0.1, ignore_index=3"},
            {"ATTENTION": "torch.ones(12, 12).tril().bool()", "LOSS": weighted},
            {"ATTENTION": "attn_mask=torch.randn(12, 12)", "LOSS": "reduction='none'); loss = (loss.mean()"},
            {"PRECISION": "torch.autocast('cpu', torch.bfloat16)"},
        ):
            with self.subTest(**places):
                found, said = tried(**places)
                self.assertEqual(set(found), {"cross_entropy", "scaled_dot_product_attention"})
                self.assertLess(max(found.values()), 2, said)
                self.assertEqual(said, {})

    def test_what_stands_in_and_calls_the_function_itself_is_judged_by_its_own_result(self):
        scaled = "own = F.cross_entropy; F.cross_entropy = lambda *a, **k: own(*a, **k) * 1.001"
        run = run_watched(python("-c", program(INSTEAD=scaled)), experiment="trials", steps=5)
        rows = [row for row in run.main.of("quantity", "reference_error") if row.thing[2] == "cross_entropy"]
        self.assertGreater(len(rows), 2)
        self.assertGreater(min(row.value / row.aux for row in rows), 1000)

    def test_sharp_softmaxes_are_no_fault(self):
        found, _ = tried(INSTEAD="nn.Linear.reset_parameters = lambda l: nn.init.normal_(l.weight, 0, 40)")
        self.assertLess(max(found.values(), default=0), TIMES)

    def test_a_function_of_the_programs_own_that_is_right(self):
        found, said = tried(INSTEAD=OWN)
        self.assertLess(max(found.values()), 2)
        self.assertEqual(said["scaled_dot_product_attention"]["stood_in_by"], "quick")

    def test_a_wrong_scale_and_a_mask_that_is_forgotten(self):
        for right, wrong in (("math.sqrt(q.shape[-1])", "q.shape[-1]"), ("if is_causal", "if False")):
            found, _ = tried(INSTEAD=OWN.replace(right, wrong))
            self.assertGreater(found["scaled_dot_product_attention"], 1e3)
            self.assertLess(found["cross_entropy"], 2)

    def test_a_backward_that_lacks_a_part(self):
        found, _ = tried(INSTEAD=OWN.replace("    scores", "    v = v.detach()\n    scores", 1))
        self.assertGreater(found["scaled_dot_product_attention"], 1e3)

    def test_one_that_cannot_be_called_again_is_not_tried(self):
        choosy = "    assert q.grad_fn or not q.requires_grad, 'not a part of the net'\n    scores"
        found, said = tried(INSTEAD=OWN.replace("    scores", choosy, 1))
        self.assertNotIn("scaled_dot_product_attention", found)
        self.assertIn("not a part of the net", said["scaled_dot_product_attention"]["untried/reference"])


if __name__ == "__main__":
    unittest.main()
