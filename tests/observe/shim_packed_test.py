"""A trial finds documents of one row that see each other, by whatever input marks them, and leaves alone
what only looks like such marks."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched
from tests.observe.shim_trials_test import result, said

# A decoder on rows of several documents; each test puts something else in the places in capitals.
PACKED = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    WORDS, WIDTH, LENGTH = 30, 16, 16

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.mix, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        def forward(self, x, seen):
            q, k, v = self.mix(x).chunk(3, -1)
            scores = (q @ k.transpose(-1, -2) / WIDTH**0.5).masked_fill(~seen, -torch.inf)
            return x + self.out(scores.softmax(-1) @ v)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS)
            self.places = nn.Embedding(TABLE, WIDTH)
            self.blocks = nn.ModuleList([Block(), Block()])
        def forward(self, x, positions=None, numbers=None, borders=None):
            order = torch.arange(x.shape[-1])
            before = order[:, None] >= order
            same = SAME
            hidden = self.words(x) + self.places(order if positions is None else positions)
            for number, block in enumerate(self.blocks):
                hidden = block(hidden, SEEN)
            return self.head(hidden)

    def row():
        lengths = [int(torch.randint(3, 7, ())) for _ in range(4)]
        return [n for n in range(4) for _ in range(lengths[n])][:LENGTH]

    def packed(count):
        numbers = torch.tensor([(row() + [4] * LENGTH)[:LENGTH] for _ in range(count)])
        tokens = torch.randint(2, WORDS, (count, LENGTH))
        first = torch.ones_like(numbers, dtype=torch.bool)
        first[:, 1:] = numbers[:, 1:] != numbers[:, :-1]
        began = torch.where(first, torch.arange(LENGTH), 0).cummax(1).values
        positions = torch.arange(LENGTH) - began
        tokens[positions == 0] = 1
        return tokens, positions, numbers, first

    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        tokens, positions, numbers, first = packed(COUNT)
        borders = torch.cat([first.flatten().nonzero().flatten(), torch.tensor([tokens.numel()])])
        logits = CALL
        optimizer.zero_grad()
        F.cross_entropy(logits.reshape(-1, WORDS), tokens.flatten() % 7).backward()
        optimizer.step()
    """
)
BY_POSITIONS = "(positions == 0).cumsum(-1)[..., None] == (positions == 0).cumsum(-1)[..., None, :]"
BY_NUMBERS = "numbers[..., None] == numbers[..., None, :]"
BY_BORDERS = ("torch.bucketize(order, borders, right=True)[:, None]"
              " == torch.bucketize(order, borders, right=True)")  # fmt: skip
SOUND = {"TABLE": "LENGTH", "SAME": BY_POSITIONS, "SEEN": "same & before", "COUNT": "4",
         "CALL": "model(tokens, positions)"}  # fmt: skip
NUMBERED = {"SAME": BY_NUMBERS, "CALL": "model(tokens, numbers=numbers)"}
BORDERED = {"SAME": BY_BORDERS, "COUNT": "1", "CALL": "model(tokens[0], borders=borders)"}


def tried(**places):
    source = PACKED
    for place, text in {**SOUND, **places}.items():
        source = source.replace(place, text)
    run = run_watched(python("-c", source), experiment="trials", steps=8)
    assert run.status == 0, run.err
    return run.main


class ShimPacked(unittest.TestCase):
    def results(self, **places):
        trace = tried(**places)
        return [result(trace, f"document_{name}") for name in ("sensitivity", "separation")]

    def test_documents_that_are_kept_apart_do_not_move(self):
        for marks in ({}, NUMBERED, BORDERED):
            self.assertEqual(self.results(**marks), [0, None])
            self.assertEqual(self.results(**marks, SEEN="same"), [0, None])  # in both directions

    def test_documents_that_all_see_each_other_move_and_no_mark_keeps_them_apart(self):
        for marks in ({}, NUMBERED, BORDERED):
            share, apart = self.results(**marks, SEEN="before")
            self.assertGreater(share, 1e-3)
            self.assertEqual(apart, 0)

    def test_the_layer_that_forgets_the_mask_is_named(self):
        trace = tried(SEEN="before if number else same & before")
        self.assertGreater(result(trace, "document_sensitivity"), 1e-3)
        self.assertEqual(said(trace, "crosses_in"), "blocks.1")
        self.assertTrue(all(row.site for row in trace.of("quantity", "document_sensitivity")))

    def test_a_mask_that_keeps_some_positions_apart_is_known_as_one(self):
        by_place = {"SEEN": "positions[..., None] >= positions[..., None, :]"}
        alternating = {**NUMBERED, "SAME": "numbers[..., None] % 2 == numbers[..., None, :] % 2"}
        for fault in (by_place, alternating):
            share, apart = self.results(**fault)
            self.assertGreater(share, 1e-3)
            self.assertGreater(apart, 0.01)
            self.assertLess(apart, 1)

    def test_positions_beyond_the_table_of_a_model_leave_the_separation_open(self):
        share, apart = self.results(TABLE="10", SEEN="before")
        self.assertGreater(share, 1e-3)
        self.assertIsNone(apart)

    def test_what_marks_no_documents_is_left_alone(self):
        for call in (
            "model(tokens)",
            "model(tokens, torch.arange(LENGTH).expand_as(tokens))",
            "model(tokens, (torch.arange(LENGTH) % 4).expand_as(tokens))",  # columns of a table
            "model(tokens, (torch.arange(LENGTH) - 5).clamp(min=0).expand_as(tokens))",  # padding before
            "model(tokens, (torch.arange(LENGTH) > 6).long().expand_as(tokens))",  # kinds of two texts
            "model(tokens, numbers.flip(1))",
        ):
            with self.subTest(call):
                trace = tried(CALL=call, SAME="None", SEEN="before")
                self.assertIsNone(result(trace, "document_sensitivity"))
                self.assertIsNone(said(trace, "untried/packed"))

    def test_numbers_that_are_values_mark_nothing(self):
        trace = tried(CALL="model(tokens, numbers)", SAME="None", SEEN="before")
        self.assertIsNone(result(trace, "document_sensitivity"))
        self.assertEqual(said(trace, "untried/packed"), "the model uses the document numbers as values")


if __name__ == "__main__":
    unittest.main()
