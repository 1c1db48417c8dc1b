"""Trains for a while, forgets everything but a file, and goes on from it to the bit."""

import pathlib
import sys
import tempfile

import torch


def start():
    model = torch.nn.Sequential(
        torch.nn.Linear(11, 40), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(40, 4)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    half = torch.optim.lr_scheduler.SequentialLR(
        optimizer,
        [
            torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=30),
            torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=270),
        ],
        milestones=[30],
    )
    return {"model": model, "optimizer": optimizer, "half": half}


def steps(parts, x, y, count):
    model, optimizer, half = parts.values()
    model.train()
    for _ in range(count):
        rows = torch.randint(1000, (50,))
        loss = torch.nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        half.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def save(parts, path):
    content = {name: part.state_dict() for name, part in parts.items()}
    torch.save({**content, "random": torch.get_rng_state()}, path)


def load(path):
    content = torch.load(path, weights_only=True)
    parts = start()
    for name, part in parts.items():
        part.load_state_dict(content[name])
    torch.set_rng_state(content["random"])
    return parts


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    x = torch.randn(1400, 11)
    y = (x @ torch.randn(11, 4)).argmax(1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "half.pt"
        parts = start()
        steps(parts, x, y, 150)
        save(parts, path)
        straight = steps(parts, x, y, 150)
        again = load(path)
        resumed = steps(again, x, y, 150)
    print("largest difference:", (straight - resumed).abs().max().item())
    assert torch.equal(straight, resumed)
    model = again["model"].eval()
    with torch.no_grad():
        score = (model(x[1000:]).argmax(1) == y[1000:]).float().mean().item()
    assert score > 0.75, score
