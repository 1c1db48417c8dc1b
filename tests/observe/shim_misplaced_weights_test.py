"""A model whose optimizer goes on from a file, while the weights of the file went into another object, is told of once."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import io, torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    x, y = torch.randn(64, 8), torch.randn(64, 1)
    def start():
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
        return model, torch.optim.Adam(model.parameters(), lr=1e-2)
    def train(model, optimizer):
        for step in range(4):
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
    file = io.BytesIO()
    model, optimizer = start()
    train(model, optimizer)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    model, optimizer = start()
    file.seek(0)
    state = torch.load(file)
    WEIGHTS
    OPTIMIZER
    train(model, optimizer)
    print(sum(p.double().sum() for p in model.parameters()).item(), torch.rand(1).item())
    """
)
ELSEWHERE = "start()[0].load_state_dict(state['model'])"
RESTORED = "optimizer.load_state_dict(state['optimizer'])"
BY_HAND = "[p.data.copy_(state['model'][name]) for name, p in model.named_parameters()]"


def program(weights=ELSEWHERE, optimizer=RESTORED):
    return python("-c", PROGRAM.replace("WEIGHTS", weights).replace("OPTIMIZER", optimizer))


class ShimMisplacedWeights(unittest.TestCase):
    def told(self, **parts):
        run = run_watched(program(**parts))
        self.assertEqual(run.status, 0, run.err)
        return [thing[2] for thing, known in run.main.attributes.items() if known.get("restored_elsewhere") == "1"]

    def test_the_class_of_the_model_is_told(self):
        self.assertEqual(self.told(), ["Sequential"])

    def test_weights_that_reach_the_model_in_any_way_are_none(self):
        self.assertEqual(self.told(weights="model.load_state_dict(state['model'])"), [])
        self.assertEqual(self.told(weights=f"{ELSEWHERE}; {BY_HAND}"), [])
        self.assertEqual(self.told(weights=f"{ELSEWHERE}; model[0].load_state_dict(start()[0][0].state_dict())"), [])

    def test_a_model_of_another_shape_or_a_new_optimizer_is_none(self):
        self.assertEqual(self.told(weights="nn.Sequential(nn.Linear(4, 2)).load_state_dict(nn.Sequential(nn.Linear(4, 2)).state_dict())"), [])
        self.assertEqual(self.told(optimizer="pass"), [])

    def test_the_program_ends_with_the_same_bits(self):
        self.assertEqual(run_watched(program()).out, run_unwatched(program()).out)


if __name__ == "__main__":
    unittest.main()
