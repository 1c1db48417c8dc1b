"""Of a program that trains in several threads one is watched, and the others are left alone."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

THREADS = textwrap.dedent(
    """
    import threading, time, torch, torch.nn.functional as F
    torch.manual_seed(0)
    x, y = torch.randn(64, 20), torch.randint(4, (64,))
    models = [torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
              for _ in range(3)]
    def train(model):
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for _ in range(100):
            time.sleep(0.001)
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    threads = [threading.Thread(target=train, args=(model,)) for model in models]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    """
)


class ShimThreads(unittest.TestCase):
    def test_one_thread_is_watched_and_the_others_are_counted(self):
        run = run_watched(python("-c", THREADS))
        self.assertEqual(run.status, 0, run.err)
        self.assertEqual(run.main.process["unseen_threads"], "2")
        steps = len(run.main.of("event", "step"))
        steps += sum(row.value for row in run.main.of("gap", "step"))
        self.assertEqual(steps, 100)
        owners = {row.thing for row in run.main.of("event", "step")}
        self.assertEqual(len(owners), 1)
        parameters = [key for key in run.main.attributes if key and key[0] == "parameter"]
        self.assertEqual(len(parameters), 4)

    def test_a_program_that_trains_in_a_thread_alone_is_watched(self):
        run = run_watched(python("-c", THREADS.replace("range(3)", "range(1)")))
        gaps = sum(row.value for row in run.main.of("gap", "step"))
        self.assertEqual(len(run.main.of("event", "step")) + gaps, 100)
        self.assertNotIn("unseen_threads", run.main.process)


if __name__ == "__main__":
    unittest.main()
