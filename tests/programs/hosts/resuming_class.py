"""A course with numbered snapshots in a folder: the newest one is where it goes on, with its average."""

import copy
import pathlib

import torch


class Course:
    def __init__(self, folder):
        generator = torch.Generator().manual_seed(5)
        self.x = torch.rand(900, 2, generator=generator) * 2 - 1
        self.y = ((self.x**2).sum(1, keepdim=True) < 0.5).float()
        torch.manual_seed(2)
        self.judge = torch.nn.Sequential(
            torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
        )
        self.mean = torch.optim.swa_utils.AveragedModel(
            self.judge, avg_fn=lambda old, new, count: old + (new - old) * 0.1
        )
        self.sgd = torch.optim.SGD(self.judge.parameters(), lr=0.5, momentum=0.9)
        self.folder, self.done = pathlib.Path(folder), 0
        self.folder.mkdir(exist_ok=True)
        self.go_on()

    def parts(self):
        return {"judge": self.judge, "mean": self.mean, "sgd": self.sgd}

    def go_on(self):
        snapshots = sorted(self.folder.glob("*.snapshot"))
        if not snapshots:
            return
        content = torch.load(snapshots[-1])
        for name, part in self.parts().items():
            part.load_state_dict(content[name])
        self.done = content["done"]

    def snapshot(self):
        content = {name: copy.deepcopy(part.state_dict()) for name, part in self.parts().items()}
        torch.save(content | {"done": self.done}, self.folder / f"{self.done:05}.snapshot")
        for old in sorted(self.folder.glob("*.snapshot"))[:-2]:
            old.unlink()

    def lesson(self):
        order = torch.Generator().manual_seed(self.done)  # each lesson's own
        rows = torch.randint(800, (50,), generator=order)
        score = self.judge(self.x[rows])
        torch.nn.functional.binary_cross_entropy_with_logits(score, self.y[rows]).backward()
        self.sgd.step()
        self.sgd.zero_grad()
        self.mean.update_parameters(self.judge)
        self.done += 1
        if self.done % 25 == 0:
            self.snapshot()


course = Course("snapshots")
while course.done < 300:
    course.lesson()
with torch.no_grad():
    agree = ((course.mean(course.x[800:]) > 0) == (course.y[800:] > 0.5)).float().mean().item()
print("agree", agree)
assert agree > 0.9, agree
