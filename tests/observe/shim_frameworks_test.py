"""What frameworks do: they read batches ahead, recompute activations, and divide the loss that a program
hands them."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PACKING = "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):"
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    from torch.utils.checkpoint import checkpoint
    from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset
    torch.manual_seed(0)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 3)
        def forward(self, x):
            return self.head(checkpoint(self.body, x, use_reentrant=False))

    def ahead(loader):
        batches = iter(loader)
        held = next(batches)
        for batch in batches:
            yield held
            held = batch
        yield held

    x, y = torch.randn(60, 4), torch.randint(3, (60,))
    data = TensorDataset(x, y)
    loader = DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), 10, False))
    model, kept = Net(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(4):
        for given, wanted in ahead(loader):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(given), wanted)
            kept.append(loss)
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                pass
            (loss / 2).backward()
            optimizer.step()
            model(given)
    """
)


class Frameworks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run = run_watched(python("-c", PROGRAM))
        assert run.status == 0, run.err
        cls.trace = run.main

    def fed(self):
        """Place in its iteration of each batch that entered the model, as it was written before."""
        place, found = None, []
        for row in self.trace.rows:
            if row.kind == "event" and row.name == "fetched":
                place = row.value
            elif row.kind == "event" and row.name == "used":
                found.append(place)
                place = None
        return found

    def test_a_batch_that_was_read_ahead_is_known_again_once(self):
        self.assertEqual(self.fed(), [place for p in range(6) for place in (float(p), None)] * 4)

    def test_a_sampler_of_batches_says_how_large_they_are(self):
        sizes = {a.get("batch_size") for t, a in self.trace.attributes.items() if t[0] == "loader"}
        self.assertEqual(sizes, {"10"})

    def test_nothing_is_said_of_a_number_that_may_have_been_packed(self):
        self.assertEqual(self.trace.of("quantity", "loss_share"), [])

    def test_recomputed_activations_do_not_hide_what_a_loss_was_divided_by(self):
        run = run_watched(python("-c", PROGRAM.replace(PACKING, "if True:")))
        self.assertEqual(run.status, 0, run.err)
        shares = {row.value for row in run.main.of("quantity", "loss_share")}
        self.assertEqual(shares, {0.5})

    def test_a_loss_that_is_kept_keeps_its_graph_though_another_was_divided(self):
        alive = [row.value for row in self.trace.of("quantity", "live_graphs")]
        self.assertEqual(alive[-1], 23.0)


if __name__ == "__main__":
    unittest.main()
