"""Rows that every step draws again, and texts that are cut off, are told; slices, kept batches and texts with their
end are not."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

DRAWN = textwrap.dedent(
    """
    import torch, torch.nn as nn
    torch.manual_seed(0)
    net, x = nn.Linear(3, 1), torch.randn(100, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    kept = x[:20].clone()
    for step in range(20):
        optimizer.zero_grad()
        net(BATCH).square().mean().backward()
        optimizer.step()
    """
)
# In a function, whose locals() torch's or the program's own code may keep.
KEPT = textwrap.dedent(
    """
    import torch, torch.nn as nn
    def train(steps=20):
        kept = locals()
        net, x = nn.Linear(3, 1), torch.randn(100, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(steps):
            optimizer.zero_grad()
            net(x[torch.arange(20)]).square().mean().backward()
            optimizer.step()
        return sorted(kept)
    print(train())
    """
)
TEXTS = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(12):
        ids = torch.randint(2, 20, (16, 12))
        lengths = torch.arange(16) % 9 + 4
        ids[torch.arange(16), lengths - 1] = END
        ids[torch.arange(12) >= lengths[:, None]] = 0
        ids = ids[:, :WIDTH]
        F.cross_entropy(net(INPUT).flatten(0, 1), (TARGET).flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    """
)


def drawn(batch):
    return rows("same_rows", DRAWN.replace("BATCH", batch))


def cut(width, given="ids", target="ids % 2", end="1"):
    text = TEXTS.replace("WIDTH", width).replace("INPUT", given).replace("TARGET", target).replace("END", end)
    return rows("cut_rows", text)


def rows(quantity, program):
    run = run_watched(python("-c", program))
    assert run.status == 0, run.err
    return [(row.value, row.aux) for row in run.main.of("quantity", quantity)]


class SameRows(unittest.TestCase):
    def test_drawn_by_every_step_are_told_once(self):
        self.assertEqual(drawn("x[torch.arange(20) * 3]"), [(100, 20)])

    def test_of_other_draws_are_not_told(self):
        self.assertEqual(drawn("x[torch.randint(100, (20,))]"), [])

    def test_of_a_slice_of_one_object_or_of_more_than_half_are_not_told(self):
        for batch in ("x[:20]", "kept", "x[torch.arange(60)]"):
            self.assertEqual(drawn(batch), [])

    def test_that_no_tensor_of_the_program_has_are_not_told(self):
        self.assertEqual(drawn("torch.linspace(0, 1, 60).view(20, 3)"), [])


    def test_are_found_without_a_look_at_the_variables_of_functions(self):
        run = run_watched(python("-c", KEPT))
        self.assertEqual(run.out.strip(), "['steps']")
        self.assertEqual(len(run.main.of("quantity", "same_rows")), 1)


class CutRows(unittest.TestCase):
    def test_without_the_token_that_ends_the_shorter_ones_are_told(self):
        self.assertEqual(cut("8")[0], (24, 64))  # of 16 rows 6 are longer than 8 tokens

    def test_with_their_end_are_not_told(self):
        self.assertEqual(cut("12"), [])

    def test_whose_end_is_the_last_target_are_not_told(self):
        self.assertEqual(cut("12", "ids[:, :-1]", "ids[:, 1:]"), [])

    def test_are_not_told_of_texts_without_an_end_token(self):
        self.assertEqual(cut("8", end="torch.randint(2, 20, (16,))"), [])


if __name__ == "__main__":
    unittest.main()
