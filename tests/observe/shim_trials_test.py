"""A trial finds what outputs depend on, says where it cannot tell, and changes nothing of the program."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

# A language model by hand; each test puts something else in the places in capitals.
SEQUENCES = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    WORDS, WIDTH, LENGTH = 24, 16, 12

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.mix, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.drop = nn.Dropout(0.1)
        def forward(self, x, hidden=None):
            q, k, v = self.mix(x).chunk(3, -1)
            scores = q @ k.transpose(1, 2) / WIDTH**0.5
            later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(DIAGONAL)
            scores = scores.masked_fill(later, -1e9)
            if hidden is not None:
                scores = scores.masked_fill(hidden[:, None], -1e9)
            return x + self.drop(self.out(scores.softmax(-1) @ v))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS)
            self.blocks = nn.ModuleList([Block(), Block()])
            EXTRA
        def forward(self, x, hidden=None):
            x = self.words(x)
            for block in self.blocks:
                x = block(x, hidden)
            x = FINAL
            return self.head(x)

    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.randint(2, WORDS, (32, LENGTH + 1))
    PADDING
    loader = torch.utils.data.DataLoader(rows, batch_size=8, shuffle=True LOADER)
    for epoch in range(2):
        for batch in loader:
            x, y = batch[:, :-1], TARGETS
            optimizer.zero_grad()
            F.cross_entropy(CALL.transpose(1, 2), y, ignore_index=0).backward()
            optimizer.step()
    """
)
SOUND = {"DIAGONAL": "1", "EXTRA": "pass", "FINAL": "x", "PADDING": "", "LOADER": "",
         "TARGETS": "batch[:, 1:]", "CALL": "model(x)"}  # fmt: skip
PADDED = {
    "DIAGONAL": "LENGTH",  # sees all
    "PADDING": "rows[torch.arange(LENGTH + 1) >= torch.randint(5, 14, (32, 1))] = 0; rows[0] = 2",
    "TARGETS": "batch[:, :-1] % 5",
    "CALL": "model(x, x == 0)",
}

# The same, cut to the longest text of each batch.
OF_ALL_LENGTHS = {
    **PADDED,
    "CALL": "(x := x[:, : (x != 0).sum(1).max()], y := y[:, : x.shape[1]], model(x, x == 0))[-1]",
    "LENGTH, LENGTH": "x.shape[1], x.shape[1]",
}


def program(**places):
    source = SEQUENCES
    for place, text in {**SOUND, **places}.items():
        source = source.replace(place, text)
    return python("-c", source)


def tried(**places):
    run = run_watched(program(**places), experiment="trials", steps=8)
    assert run.status == 0, run.err
    return run.main


def result(trace, quantity):
    """The largest of a trial's results, one for each step; None if there are none."""
    return max((row.value for row in trace.of("quantity", quantity)), default=None)


def said(trace, key):
    """What the model's attribute says; None without it."""
    return trace.attributes.get(("model", "0", "Model"), {}).get(key)


def lines_of(trace, quantity, source):
    """The source of the lines that a trial names beside its results."""
    return {source.split("\n")[int(row.site[1]) - 1].strip() for row in trace.of("quantity", quantity) if row.site}


class ShimTrials(unittest.TestCase):
    def test_a_sound_model_moves_not_at_all(self):
        trace = tried()
        self.assertEqual(result(trace, "future_sensitivity"), 0)
        self.assertEqual(result(trace, "neighbor_sensitivity"), 0)
        self.assertEqual(result(trace, "evaluation_noise"), 0)
        self.assertIsNone(result(trace, "padding_sensitivity"))
        self.assertIsNone(said(trace, "untried"))

    def test_the_module_that_sees_the_future_is_named(self):
        trace = tried(DIAGONAL="2")
        self.assertGreater(result(trace, "future_sensitivity"), 1e-4)
        self.assertEqual(said(trace, "leaks_in"), "blocks.0")
        forward = "def forward(self, x, hidden=None):"
        self.assertEqual(lines_of(trace, "future_sensitivity", program()[-1]), {forward})
        trace = tried(FINAL="x - x.mean(1, keepdim=True)")
        self.assertGreater(result(trace, "future_sensitivity"), 1e-4)
        self.assertIsNone(said(trace, "leaks_in"))  # in the model's own forward
        self.assertEqual(lines_of(trace, "future_sensitivity", program()[-1]), {forward})

    def test_a_model_with_other_targets_may_see_all(self):
        trace = tried(DIAGONAL="LENGTH", TARGETS="batch[:, :-1] % 5")
        self.assertIsNone(result(trace, "future_sensitivity"))
        self.assertEqual(result(trace, "neighbor_sensitivity"), 0)

    def test_targets_that_are_an_input_and_no_tokens_are_not_copied(self):
        labeled = {"hidden=None):": "hidden=None, labels=None):", "DIAGONAL": "LENGTH"}
        trace = tried(**labeled, TARGETS="batch[:, :-1] % 5", CALL="model(x, None, y)")
        self.assertIsNone(result(trace, "copied_future_sensitivity"))
        self.assertIn("do not depend", said(trace, "untried/future"))

    def test_targets_that_are_the_tokens_are_copied_unless_the_model_shifts_them_itself(self):
        copied = tried(TARGETS="batch[:, :-1]")
        self.assertEqual(result(copied, "copied_future_sensitivity"), 0)
        begins = {"x = self.words(x)": "x = torch.cat([self.begin.expand(len(x), 1, WIDTH), self.words(x)[:, :-1]], 1)",
                  "EXTRA": "self.begin = nn.Parameter(torch.ones(WIDTH))"}  # fmt: skip
        shifted = tried(TARGETS="batch[:, :-1]", **begins)
        self.assertIsNone(result(shifted, "copied_future_sensitivity"))
        self.assertIn("the model shifts its input", said(shifted, "untried/future"))

    def test_samples_that_mix_are_found_where_a_loader_stacked_them(self):
        mixed = {"FINAL": "x - 0.01 * x.mean(0)"}
        self.assertGreater(result(tried(**mixed), "neighbor_sensitivity"), 1e-4)
        layer = {"EXTRA": "self.late = nn.Transformer(WIDTH, 2, 1, 1, 32).encoder", "FINAL": "self.late(x)"}
        trace = tried(**layer)  # which takes the time first
        self.assertEqual(said(trace, "mixes_in")[:13], "late.layers.0")
        self.assertEqual(lines_of(trace, "neighbor_sensitivity", program(**layer)[-1]), {"x = self.late(x)"})
        collated = {"LOADER": ", collate_fn=torch.stack"}
        self.assertIsNone(result(tried(**mixed, **collated), "neighbor_sensitivity"))

    def test_padding_is_found_by_its_mask(self):
        self.assertEqual(result(tried(**PADDED), "padding_sensitivity"), 0)
        turned = {**PADDED, "CALL": "model(x, x == 0)", "FINAL": "x + x.mean(1, keepdim=True)"}
        trace = tried(**turned)
        self.assertGreater(result(trace, "padding_sensitivity"), 1e-4)
        forward = "def forward(self, x, hidden=None):"
        self.assertEqual(lines_of(trace, "padding_sensitivity", program()[-1]), {forward})
        self.assertIsNone(result(tried(**{**PADDED, "CALL": "model(x)"}), "padding_sensitivity"))

    def test_how_much_padding_there_is_may_not_matter_where_batches_differ_in_it(self):
        self.assertLess(result(tried(**OF_ALL_LENGTHS), "length_sensitivity"), 1e-6)
        divided = "x * (x.shape[1] / LENGTH)"  # no padding is looked at, and yet it counts
        trace = tried(**OF_ALL_LENGTHS, FINAL=divided)
        self.assertEqual(result(trace, "padding_sensitivity"), 0)
        self.assertGreater(result(trace, "length_sensitivity"), 1e-2)
        self.assertIsNone(result(tried(**PADDED, FINAL=divided), "length_sensitivity"))

    def test_outputs_without_positions_are_tried_without_padding(self):
        pooled = {**OF_ALL_LENGTHS, "TARGETS": "batch[:, 0] % 5", "y := y[:, : x.shape[1]], ": "",
                  ".transpose(1, 2), y": ", y"}  # fmt: skip
        mean = "(x * ~hidden[..., None]).sum(1) / (~hidden).sum(1, keepdim=True)"
        self.assertLess(result(tried(**pooled, FINAL=mean), "length_sensitivity"), 1e-6)
        mean = "(x * ~hidden[..., None]).mean(1)"
        self.assertGreater(result(tried(**pooled, FINAL=mean), "length_sensitivity"), 1e-2)

    def test_a_model_that_is_given_numbers_may_be_given_lengths(self):
        trace = tried(**OF_ALL_LENGTHS, **{"hidden=None": "hidden=None, n=0", "x == 0))": "x == 0, 8))"})
        self.assertIsNone(result(trace, "length_sensitivity"))
        self.assertIn("numbers", said(trace, "untried/shortened"))

    def test_targets_at_padding_are_counted_unless_any_is_left_out(self):
        counted = {**PADDED, "TARGETS": "batch[:, :-1] % 5 + 1"}
        row = tried(**counted).of("quantity", "counted_padding")[0]
        self.assertEqual(row.aux, 8 * 12)
        self.assertTrue(0 < row.value < row.aux)
        by_hand = {"ignore_index=0).backward": "reduction='none').mul(x != 0).sum().backward"}
        weighted = {"ignore_index=0)": "weight=(torch.arange(WORDS) != 1).float())"}
        marked = {"CALL": "model(x, (x == 0) & (x != 0).cumsum(1).eq(5))"}  # no mask of all padding
        given = {"hidden=None):": "hidden=None, labels=None):", "CALL": "model(x, x == 0, y)"}
        self.assertEqual(tried(**{**counted, **given}).of("quantity", "counted_padding")[0].value, row.value)
        for places in (by_hand, weighted, {"TARGETS": "batch[:, :-1] % 5"}, marked):
            self.assertFalse(result(tried(**{**counted, **places}), "counted_padding"))

    def test_positions_beside_the_tokens_are_no_other_text(self):
        given = {"hidden=None):": "hidden=None, places=None):",
                 "CALL": "model(x, x == 0, torch.cat([torch.arange(5), torch.arange(7)]).expand_as(x))"}
        for targets, count in (("batch[:, :-1] % 5 + 1", 1), ("torch.where(batch[:, :-1] == 0, 0, 3)", 0)):
            row = tried(**{**PADDED, **given, "TARGETS": targets}).of("quantity", "counted_padding")[0]
            self.assertEqual(row.value > 0, bool(count), targets)

    def test_neighbors_of_a_batch_that_a_sampler_of_batches_chose(self):
        sampler = "torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(rows), 8, True)"
        chosen = {"batch_size=8, shuffle=True ": f"batch_sampler={sampler}", "FINAL": "x - 0.01 * x.mean(0)"}
        self.assertGreater(result(tried(**chosen), "neighbor_sensitivity"), 1e-4)

    def test_dropout_that_ignores_the_mode_is_counted_and_other_noise_is_not(self):
        trace = tried(FINAL="F.dropout(x, 0.1)")
        row = trace.of("quantity", "evaluation_noise")[0]
        self.assertGreater(row.value, 0)
        self.assertEqual((row.aux, said(trace, "active_dropout")), (1, "dropout"))
        row = tried(FINAL="x + torch.randn_like(x)").of("quantity", "evaluation_noise")[0]
        self.assertGreater(row.value, 0)
        self.assertEqual(row.aux, 0)

    def test_a_model_that_tosses_coins_tosses_the_same_for_other_inputs(self):
        coins = {"EXTRA": "self.start = nn.Parameter(torch.randn(WIDTH))",
                 "FINAL": "torch.where(torch.rand(x.shape[1], 1) < 0.9, x, self.start)"}  # fmt: skip
        self.assertEqual(result(tried(**coins), "future_sensitivity"), 0)
        self.assertGreater(result(tried(DIAGONAL="2", **coins), "future_sensitivity"), 1e-4)

    def test_a_model_that_draws_more_for_some_inputs_is_not_tried(self):
        trace = tried(FINAL="x + 0 * torch.randn(1 + int(x.abs().sum()) % 7).sum()")
        self.assertIn("other random numbers", said(trace, "untried/future"))

    def test_a_model_that_cannot_be_copied_says_so(self):
        trace = tried(EXTRA="self.file = open('/dev/null')")
        self.assertEqual(said(trace, "untried"), "cannot be copied: TypeError")
        self.assertEqual(trace.of("quantity", "future_sensitivity"), [])

    def test_training_goes_on_as_without_it(self):
        losses = []
        for experiment in ("same_seed", "trials"):
            run = run_watched(program(), experiment=experiment, steps=8)
            losses.append([row.value for row in run.main.of("quantity", "loss")])
        self.assertEqual(len(losses[0]), 8)
        self.assertEqual(*losses)


if __name__ == "__main__":
    unittest.main()
