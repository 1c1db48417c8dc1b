"""One training loop of a fixed size, whose CPU time a step is printed: what watching it costs.

  watched_loop.py MODEL STEPS WATCHER   prints milliseconds a step, of all and of the first 64

WATCHER is what a user would put into the loop by hand: nothing, anomaly (PyTorch's own mode), norms
(the norm of every gradient, read at every step) or wandb (its `watch`, offline, at every step). Under
`dlcheck run` it is nothing.
"""

import os
import sys
import time

import torch
import torch.nn.functional as F


def mlp():
    layers = [torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(64, 10))
    return model, torch.randn(4096, 64), torch.randint(10, (4096,)), 64


def cnn():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(32 * 49, 10),
    )  # fmt: skip
    return model, torch.randn(1024, 1, 28, 28), torch.randint(10, (1024,)), 64


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.mix, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.mix(self.first(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.second(x))))


class Gpt(torch.nn.Module):
    def __init__(self, vocabulary=64, width=128, length=128, layers=4):
        super().__init__()
        self.tokens = torch.nn.Embedding(vocabulary, width)
        self.places = torch.nn.Embedding(length, width)
        self.blocks = torch.nn.Sequential(*(Block(width, 4) for _ in range(layers)))
        self.norm, self.head = torch.nn.LayerNorm(width), torch.nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x))).transpose(1, 2)


def gpt():
    tokens = torch.randint(64, (256, 129))
    return Gpt(), tokens[:, :-1], tokens[:, 1:], 8


def modules():
    layers = [torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Tanh()) for _ in range(100)]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(16, 10))
    return model, torch.randn(1024, 16), torch.randint(10, (1024,)), 32


MODELS = {"mlp": mlp, "cnn": cnn, "gpt": gpt, "modules": modules}


def steps_of(name, after_backward=lambda model: None):
    """A function that does one training step, whose number it takes."""
    torch.manual_seed(0)
    model, inputs, targets, size = MODELS[name]()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    after = after_backward(model)

    def step_of(step):
        places = torch.arange(size) + step * size % (len(inputs) - size)
        optimizer.zero_grad()
        F.cross_entropy(model(inputs[places]), targets[places]).backward()
        if after is not None:
            after()
        optimizer.step()

    return step_of


def begin(watcher, model):
    if watcher == "anomaly":
        torch.autograd.set_detect_anomaly(True)
    elif watcher == "wandb":
        import wandb

        os.environ["WANDB_SILENT"] = "true"
        run = wandb.init(mode="offline", project="watching")
        wandb.watch(model, log="all", log_freq=1)
        return lambda: run.log({})
    elif watcher == "norms":
        return lambda: [p.grad.norm().item() for p in model.parameters()]
    return None


def main():
    name, steps, watcher = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    step_of = steps_of(name, lambda model: begin(watcher, model))
    start = first = 0
    for step in range(-4, steps):  # four steps are to warm up
        if step == 0:
            start = time.process_time()
        if step == 64:
            first = time.process_time() - start
        step_of(step + 4)
    total = time.process_time() - start
    print(total / steps * 1e3, first / 64 * 1e3)


if __name__ == "__main__":
    main()
