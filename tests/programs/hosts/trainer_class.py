"""A trainer object with methods for everything; it stops half way, reads its file and goes on."""

import pathlib
import sys
import tempfile

import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    """Pictures of stripes in one of four directions, under noise."""

    def __init__(self, length, seed):
        source = torch.Generator().manual_seed(seed)
        self.kinds = torch.randint(4, (length,), generator=source)
        axis = torch.arange(8.0)
        grids = [
            axis[:, None].expand(8, 8),
            axis[None, :].expand(8, 8),
            axis[:, None] + axis[None, :],
            axis[:, None] - axis[None, :],
        ]
        phases = torch.rand(length, generator=source) * 6
        waves = torch.stack([torch.sin(grids[k] * 1.5 + p) for k, p in zip(self.kinds, phases)])
        self.pictures = (waves + 0.4 * torch.randn(length, 8, 8, generator=source)).unsqueeze(1)

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, number):
        return self.pictures[number], self.kinds[number]


class Net(nn.Module):
    def __init__(self, channels=12):
        super().__init__()
        self.conv = nn.Conv2d(1, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.pool = nn.AdaptiveMaxPool2d(4)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(channels * 16, 4)

    def forward(self, pictures):
        hidden = self.pool(torch.relu(self.norm(self.conv(pictures))))
        return self.head(self.drop(hidden.flatten(1)))


class Trainer:
    def __init__(self, net, epochs, folder):
        self.net = net
        self.epochs = epochs
        self.file = pathlib.Path(folder) / "checkpoint.pt"
        self.learn = DataLoader(Stripes(960, 1), batch_size=24, shuffle=True)
        self.check = DataLoader(Stripes(240, 2), batch_size=40)
        self.criterion = nn.CrossEntropyLoss()
        self.begin()

    def begin(self):
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.02, momentum=0.9)
        steps = self.epochs * len(self.learn)
        self.schedule = OneCycleLR(self.optimizer, max_lr=0.05, total_steps=steps + 1)

    def training_step(self, pictures, kinds):
        logits = self.net(pictures)
        loss = self.criterion(logits, kinds)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 2.0)
        self.optimizer.step()
        self.schedule.step()
        return loss.detach()

    def training_epoch(self):
        self.net.train()
        losses = [self.training_step(pictures, kinds) for pictures, kinds in self.learn]
        return torch.stack(losses).mean().item()

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        hits = 0
        for pictures, kinds in self.check:
            logits = self.net(pictures)
            hits += (logits.argmax(1) == kinds).sum().item()
        return hits / len(self.check.dataset)

    def save(self):
        content = dict(
            net=self.net.state_dict(),
            optimizer=self.optimizer.state_dict(),
            schedule=self.schedule.state_dict(),
        )
        torch.save(content, self.file)

    def load(self):
        content = torch.load(self.file)
        self.net.load_state_dict(content["net"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.schedule.load_state_dict(content["schedule"])

    def fit(self, first, last):
        for epoch in range(first, last):
            loss = self.training_epoch()
            score = self.validate()
            print(f"{epoch} {loss:.3f} {score:.3f}")
            self.save()
        return score


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(Net(), 6, folder)
        trainer.fit(0, 3)
        trainer = Trainer(Net(), 6, folder)
        trainer.load()
        score = trainer.fit(3, 6)
    assert score > 0.75, score
