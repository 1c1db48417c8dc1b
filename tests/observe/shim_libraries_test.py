"""What libraries do around a loop is seen for what it is: calls by keyword, samplers in samplers, files
written from memory, an optimizer given its own empty state."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import io, torch, torch.nn as nn, torch.nn.functional as F
    from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset
    torch.manual_seed(0)

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.head = nn.Embedding(50, 16), nn.Linear(16, 50)
        def forward(self, mask=None, words=None, labels=None):
            made = self.head(self.words(words))
            return F.cross_entropy(made[:, :-1].reshape(-1, 50), labels[:, 1:].reshape(-1)), made

    class Shard(BatchSampler):
        def __init__(self, batch_sampler):
            self.batch_sampler = batch_sampler
        def __iter__(self):
            return iter(self.batch_sampler)
        def __len__(self):
            return len(self.batch_sampler)

    rows = torch.randint(50, (96, 8))
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    optimizer.load_state_dict(optimizer.state_dict())
    data = TensorDataset(rows)
    loader = DataLoader(data, batch_sampler=Shard(BatchSampler(RandomSampler(data), 8, False)))
    for epoch in range(7):
        model.train()
        for batch, in loader:
            places = torch.arange(batch.numel()).view(-1, 8)  # of more values than words
            loss, _ = model(mask=places, words=batch, labels=batch)
            optimizer.zero_grad(); loss.backward(); optimizer.step()
        model.eval()
        with torch.inference_mode():
            for part in rows.clone().split(32):  # tensors of inference mode
                model(mask=torch.ones_like(part), words=part, labels=part)
    buffer = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, buffer)
    """
)


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run = run_watched(python("-c", PROGRAM))
        assert run.status == 0, run.err
        cls.trace = run.main

    def test_a_call_by_keyword_has_its_batch_and_a_mask_of_the_same_size_is_none(self):
        prints = {(r.value, r.aux) for r in self.trace.of("quantity", "batch_fingerprint")}
        self.assertGreater(len(prints), 8)

    def test_targets_are_the_tokens_of_an_input_given_by_keyword(self):
        shifts = {row.value for row in self.trace.of("quantity", "target_shift")}
        self.assertEqual(shifts, {1.0})

    def test_targets_that_are_given_too_are_not_the_words(self):
        run = run_watched(python("-c", PROGRAM.replace("labels=batch)", "labels=batch.roll(-1, 1))")))
        shifts = {row.value for row in run.main.of("quantity", "target_shift")}
        self.assertEqual(shifts, {2.0}, run.err)

    def test_evaluations_by_keyword_and_in_inference_mode_have_their_data(self):
        prints = [(r.value, r.aux) for r in self.trace.of("quantity", "evaluation_fingerprint")]
        self.assertEqual((len(prints), len(set(prints))), (7, 1))

    def test_an_evaluation_has_its_loss_in_a_step_that_is_not_sampled_too(self):
        self.assertEqual(len(self.trace.of("quantity", "evaluation_loss")), 7)

    def test_the_order_is_that_of_the_innermost_sampler(self):
        orders = {a.get("order") for t, a in self.trace.attributes.items() if t[0] == "loader"}
        self.assertEqual(orders, {"random"})

    def test_a_file_written_from_memory_has_its_contents(self):
        files = [a["contents"] for t, a in self.trace.attributes.items() if t[0] == "file"]
        self.assertEqual(files, ["model optimizer"])

    def test_an_optimizer_given_its_own_empty_state_was_not_loaded(self):
        self.assertEqual(self.trace.of("event", "loaded"), [])


if __name__ == "__main__":
    unittest.main()
