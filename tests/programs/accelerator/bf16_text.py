"""A small language model in bfloat16, fused attention and optimizer, gradients of two micro-batches a step."""

import math

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(5)
torch.set_float32_matmul_precision("high")
LENGTH, VOCABULARY, WIDTH, STEPS, MICRO = 64, 32, 96, 150, 2
# Two random successors of each letter.
successors = torch.randint(VOCABULARY, (VOCABULARY, 2))


def text(count):
    letters = [torch.randint(VOCABULARY, ()).item()]
    for coin in torch.randint(2, (count,)).tolist():
        letters.append(successors[letters[-1], coin].item())
    return torch.tensor(letters)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in self.qkv(self.before(x)).chunk(3, dim=-1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.between(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.letters(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def windows(corpus, count):
    starts = torch.randint(len(corpus) - LENGTH - 1, (count,))
    rows = torch.stack([corpus[start : start + LENGTH + 1] for start in starts])
    if device == "cuda":
        rows = rows.pin_memory().to(device, non_blocking=True)
    return rows[:, :-1], rows[:, 1:]


def loss_of(model, tokens, targets):
    with torch.autocast(device, dtype=torch.bfloat16):
        logits = model(tokens)
    return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


corpus, other = text(40_000), text(4_000)
model = Model().to(device)
decayed = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() <= 1]
groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95), fused=device == "cuda")
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda step: min(1.0, (step + 1) / 20) * 0.5 * (1 + math.cos(math.pi * step / STEPS)))

model.train()
for step in range(STEPS):
    for _ in range(MICRO):
        (loss_of(model, *windows(corpus, 16)) / MICRO).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
model.eval()
with torch.inference_mode():
    score = torch.stack([loss_of(model, *windows(other, 32)) for _ in range(4)]).mean().item()
print(f"held out {score:.4f}")
print("weights", sum(p.detach().double().sum().item() for p in model.parameters()).hex())
assert score < 1.4
