"""Early stopping long before the end of a cosine schedule; checkpoints in a folder; the best is loaded and tested."""

import pathlib
import sys
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class EarlyStopping:
    def __init__(self, path, patience=4, delta=1e-3):
        self.path, self.patience, self.delta = path, patience, delta
        self.best, self.bad = None, 0

    def __call__(self, value, model, optimizer, scheduler, epoch):
        if self.best is None or value < self.best - self.delta:
            self.best, self.bad = value, 0
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                        "scheduler": scheduler.state_dict(), "epoch": epoch}, self.path)
        else:
            self.bad += 1
        return self.bad >= self.patience


def main(seed):
    torch.manual_seed(seed)
    x = torch.randn(900, 20)
    y = (x[:, :2].sum(1) + 0.7 * torch.randn(900) > 0).float()[:, None]
    train, valid, test = random_split(TensorDataset(x, y), [500, 200, 200], generator=torch.Generator().manual_seed(seed))
    train = DataLoader(train, batch_size=25, shuffle=True)
    valid, test = DataLoader(valid, batch_size=200), DataLoader(test, batch_size=200)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 1))
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=200)

    def loss_on(loader):
        model.eval()
        with torch.no_grad():
            return sum(criterion(model(a), b).item() for a, b in loader) / len(loader)

    with tempfile.TemporaryDirectory() as folder:
        stopper = EarlyStopping(pathlib.Path(folder, "checkpoint.pt"))
        for epoch in range(200):
            model.train()
            for a, b in train:
                optimizer.zero_grad()
                criterion(model(a), b).backward()
                optimizer.step()
            scheduler.step()
            if stopper(loss_on(valid), model, optimizer, scheduler, epoch):
                print("stopped after epoch", epoch)
                break
        checkpoint = torch.load(stopper.path, weights_only=True)
        model.load_state_dict(checkpoint["model"])
    model.eval()
    with torch.no_grad():
        right = torch.cat([((model(a) > 0) == b.bool()).float() for a, b in test]).mean().item()
    print(f"best epoch {checkpoint['epoch']}, test accuracy {right:.3f}")
    assert right > 0.7 and epoch < 199


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
