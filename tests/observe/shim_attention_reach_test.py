"""Attention that gives weight to padding, or to the token that is to be predicted, is told of torch's functions and of
a softmax of the program's own; attention that hides them is not."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.parts, self.head = nn.Embedding(20, 8), nn.Linear(8, 24), nn.Linear(8, 20)
        def forward(self, ids):
            q, k, v = self.parts(self.table(ids))[:, None].chunk(3, -1)
            hidden = (ids == 0)[:, None, None, :]
            later = torch.ones(9, 9, dtype=torch.bool).triu(1)
            return self.head((ATTENTION)[:, 0])
    net = Reader()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(4):
        ids = torch.randint(1, 20, (8, 9))
        ids[torch.arange(9) >= LENGTHS] = 0
        loss = F.cross_entropy(net(ids)TARGETS)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    """
)
RAGGED, EVEN = "(torch.arange(8) % 4 + 4)[:, None]", "torch.full((8, 1), 9)"
WORDS = ".sum(1), ids[:, 0]"  # the first word of each text
NEXT = "[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0"
OWN = "(q @ k.mT).masked_fill({}, -torch.inf).softmax(-1) @ v"
GIVEN = "F.scaled_dot_product_attention(q, k, v, {})"


def program(attention, targets, lengths=RAGGED):
    return PROGRAM.replace("ATTENTION", attention).replace("TARGETS", targets).replace("LENGTHS", lengths)


def told(quantity, attention, targets, lengths=RAGGED):
    run = run_watched(python("-c", program(attention, targets, lengths)))
    assert run.status == 0, run.err
    return run.main.of("quantity", quantity)


class Padding(unittest.TestCase):
    def test_weight_that_a_softmax_gives_to_padding_is_told(self):
        (row,) = told("weight_of_padding", OWN.format("ids[:, None, None, :] < 0"), WORDS)
        self.assertTrue(0 < row.value < 1)
        self.assertEqual(row.aux, 28)

    def test_attention_that_got_no_mask_is_told(self):
        for attention in (GIVEN.format("dropout_p=0.0"), GIVEN.format("attn_mask=torch.zeros(8, 1, 9, 9)")):
            (row,) = told("weight_of_padding", attention, WORDS)
            self.assertEqual(row.value, 1)

    def test_attention_that_hides_padding_or_has_none_is_not_told(self):
        for attention in (OWN.format("hidden"), GIVEN.format("attn_mask=~hidden.expand(8, 1, 9, 9)")):
            self.assertEqual(told("weight_of_padding", attention, WORDS), [])
        self.assertEqual(told("weight_of_padding", GIVEN.format("dropout_p=0.0"), WORDS, EVEN), [])

    def test_a_causal_mask_hides_padding_at_the_end_from_real_tokens(self):
        self.assertEqual(told("weight_of_padding", GIVEN.format("is_causal=True"), NEXT), [])
        self.assertEqual(told("weight_of_padding", OWN.format("later"), NEXT), [])


class NextToken(unittest.TestCase):
    def test_weight_of_the_token_that_is_predicted_is_told(self):
        (row,) = told("weight_of_next_token", OWN.format("hidden"), NEXT)
        self.assertTrue(0 < row.value < 1)
        (row,) = told("weight_of_next_token", GIVEN.format("is_causal=False"), NEXT, EVEN)
        self.assertEqual((row.value, row.aux), (1, 64))

    def test_a_causal_mask_hides_it(self):
        for attention in (OWN.format("later"), GIVEN.format("is_causal=True"), GIVEN.format("attn_mask=~later")):
            self.assertEqual(told("weight_of_next_token", attention, NEXT), [])

    def test_other_targets_may_be_seen(self):
        self.assertEqual(told("weight_of_next_token", GIVEN.format("is_causal=False"), WORDS), [])


if __name__ == "__main__":
    unittest.main()
