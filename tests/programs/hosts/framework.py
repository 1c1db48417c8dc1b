"""A small framework of callbacks and a configuration; half precision with a loss scaler."""

import dataclasses
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclasses.dataclass
class Config:
    width: int = 48
    batch: int = 40
    epochs: int = 8
    rate: float = 4e-3
    bound: float = 1.0
    seed: int = 0


class Callback:
    def before_fit(self, learner): ...

    def after_step(self, learner): ...

    def after_epoch(self, learner): ...


class Schedule(Callback):
    def before_fit(self, learner):
        total = learner.config.epochs * len(learner.train)
        self.rule = torch.optim.lr_scheduler.LinearLR(learner.optimizer, 1.0, 0.1, total)

    def after_step(self, learner):
        self.rule.step()


class Score(Callback):
    def __init__(self):
        self.values = []

    def after_epoch(self, learner):
        self.values.append(learner.evaluate())


class Body(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(16, width)
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(0.1)
        self.second = nn.Linear(width, 3)

    def forward(self, features):
        hidden = torch.relu(self.norm(self.first(features)))
        return self.second(self.drop(hidden))


class Learner:
    def __init__(self, config, model, train, test, callbacks):
        self.config, self.model, self.train, self.test = config, model, train, test
        self.callbacks = callbacks
        self.optimizer = torch.optim.Adam(model.parameters(), lr=config.rate)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=100)
        self.loss = nn.CrossEntropyLoss()

    def tell(self, moment):
        for callback in self.callbacks:
            getattr(callback, moment)(self)

    def step(self, features, labels):
        self.optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            scores = self.model(features)
            loss = self.loss(scores, labels)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.bound)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def fit(self):
        self.tell("before_fit")
        for epoch in range(self.config.epochs):
            self.model.train()
            for features, labels in self.train:
                self.step(features, labels)
                self.tell("after_step")
            self.tell("after_epoch")

    def evaluate(self):
        self.model.eval()
        good = 0
        with torch.inference_mode():
            for features, labels in self.test:
                scores = self.model(features)
                good += (scores.argmax(1) == labels).sum().item()
        return good / len(self.test.dataset)


def tables(config):
    torch.manual_seed(config.seed)
    table = torch.randn(1600, 16)
    labels = (table[:, :3] * table[:, 3:6] + table[:, 6:9]).argmax(1)
    train = TensorDataset(table[:1280], labels[:1280])
    test = TensorDataset(table[1280:], labels[1280:])
    return (
        DataLoader(train, config.batch, shuffle=True, drop_last=True),
        DataLoader(test, config.batch),
    )


if __name__ == "__main__":
    config = Config(seed=int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    train, test = tables(config)
    score = Score()
    Learner(config, Body(config.width), train, test, [Schedule(), score]).fit()
    print("accuracies", [round(value, 3) for value in score.values])
    assert score.values[-1] > 0.7, score.values
