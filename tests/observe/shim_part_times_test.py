"""How long the parts of a step take is recorded under the name of each part."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PAUSE = 0.02  # seconds
PROGRAM = textwrap.dedent(
    """
    import io, time, torch
    class Slow(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
        def forward(self, x):
            time.sleep(PLACE == "forward_time" and PAUSE)
            time.sleep(PLACE == "evaluation_time" and not torch.is_grad_enabled() and PAUSE)
            return self.layer(x)
    class SlowFile(io.BytesIO):
        def write(self, data):
            time.sleep(PLACE == "saving_time" and PAUSE)
            return super().write(data)
    class SlowSGD(torch.optim.SGD):
        @torch.no_grad()
        def step(self):
            time.sleep(PLACE == "optimizer_time" and PAUSE)
            return super().step()
    model = Slow()
    optimizer = SlowSGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 4)).square().mean()
        loss.register_hook(lambda gradient: time.sleep(PLACE == "backward_time" and PAUSE))
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model(torch.randn(8, 4))
        torch.save(model.state_dict(), SlowFile())
    """
)
PARTS = ("forward_time", "backward_time", "optimizer_time", "evaluation_time", "saving_time")


class ShimPartTimes(unittest.TestCase):
    def test_a_pause_is_found_in_the_part_where_it_is(self):
        for place in PARTS:
            with self.subTest(place):
                run = run_watched(python("-c", f"PLACE, PAUSE = {place!r}, {PAUSE}\n{PROGRAM}"))
                self.assertEqual(run.status, 0, run.err)
                least = {part: min(row.value for row in run.main.of("quantity", part)) for part in PARTS}
                slow = {part for part, seconds in least.items() if seconds >= PAUSE}
                # A forward of an evaluation sleeps, too.
                self.assertEqual(slow - {"evaluation_time"}, {place} - {"evaluation_time"}, least)
                self.assertIn(place, slow)


if __name__ == "__main__":
    unittest.main()
