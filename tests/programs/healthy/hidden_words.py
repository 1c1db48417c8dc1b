"""Masked language modelling: fifteen in a hundred are asked, most become a mask, some another word, some stay; ignore -100."""

import sys

import torch
from torch import nn

WORDS, MASK, PAD = 30, 30, 31
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
follow = torch.stack([torch.randperm(WORDS) for _ in range(3)])


def sentences(n, longest=16):
    mood = torch.randint(0, 3, (n,))
    out = [torch.randint(0, WORDS, (n,))]
    for _ in range(longest - 1):
        out.append(follow[mood, out[-1]])
    tokens = torch.stack(out, 1)
    length = torch.randint(8, longest + 1, (n, 1))
    return torch.where(torch.arange(longest) < length, tokens, PAD)


def mask_tokens(tokens):
    asked = (torch.rand(tokens.shape) < 0.15) & (tokens != PAD)
    labels = torch.where(asked, tokens, -100)
    dice = torch.rand(tokens.shape)
    inputs = torch.where(asked & (dice < 0.8), MASK, tokens)
    inputs = torch.where(asked & (dice > 0.9), torch.randint(0, WORDS, tokens.shape), inputs)
    return inputs, labels


class Bert(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS + 2, d, padding_idx=PAD), nn.Embedding(16, d)
        self.norm, self.drop = nn.LayerNorm(d), nn.Dropout(0.05)
        self.layers = nn.ModuleList([
            nn.TransformerEncoderLayer(d, 4, 96, 0.05, activation="gelu", batch_first=True) for _ in range(2)])
        self.transform = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.LayerNorm(d))
        nn.init.normal_(self.words.weight, std=0.05)
        nn.init.normal_(self.places.weight, std=0.05)
        self.bias = nn.Parameter(torch.zeros(WORDS + 2))

    def forward(self, tokens):
        x = self.drop(self.norm(self.words(tokens) + self.places.weight[: tokens.shape[1]]))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=tokens == PAD)
        return self.transform(x) @ self.words.weight.T + self.bias


model = Bert()
no_decay = [p for n, p in model.named_parameters() if p.dim() == 1]
decay = [p for n, p in model.named_parameters() if p.dim() > 1]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": no_decay, "weight_decay": 0.0}], lr=3e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / 40, (700 - s) / 660))
criterion = nn.CrossEntropyLoss(ignore_index=-100)
for step in range(700):
    inputs, labels = mask_tokens(sentences(32))
    loss = criterion(model(inputs).transpose(1, 2), labels)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    schedule.step()
model.eval()
with torch.no_grad():
    inputs, labels = mask_tokens(sentences(400))
    asked = labels != -100
    right = (model(inputs).argmax(-1) == labels)[asked].float().mean().item()
print(f"loss {loss.item():.3f}, hidden words found {right:.3f}")
assert right > 0.4, right
