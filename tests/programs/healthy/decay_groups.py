"""A small vision transformer; matrices decay, scales and biases and positions do not."""

import sys

import torch
from torch import nn


class TinyViT(nn.Module):
    def __init__(self, side=12, patch=4, width=32, classes=3):
        super().__init__()
        self.patches = nn.Conv2d(1, width, patch, stride=patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 64, 0.1, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.position
        return self.head(self.encoder(x)[:, 0])


def groups(model, decay):
    with_decay, without = [], []
    for name, p in model.named_parameters():
        (without if p.ndim < 2 or "position" in name or "token" in name else with_decay).append(p)
    return [{"params": with_decay, "weight_decay": decay}, {"params": without, "weight_decay": 0.0}]


def gratings(n):
    kind = torch.randint(3, (n,))
    angle = kind * 1.047 + 0.15 * torch.randn(n)
    y, x = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    along = angle.cos()[:, None, None] * x + angle.sin()[:, None, None] * y
    return (torch.sin(along + torch.rand(n, 1, 1) * 6.28) + 0.3 * torch.randn(n, 12, 12))[:, None], kind


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
vit = TinyViT()
adamw = torch.optim.AdamW(groups(vit, 0.05), lr=2e-3)
policy = torch.optim.lr_scheduler.OneCycleLR(adamw, max_lr=4e-3, total_steps=240, pct_start=0.2)
for k in range(240):
    image, kind = gratings(32)
    loss = nn.functional.cross_entropy(vit(image), kind)
    loss.backward()
    nn.utils.clip_grad_norm_(vit.parameters(), 1.0)
    adamw.step(), policy.step(), adamw.zero_grad()
vit.eval()
image, kind = gratings(400)
with torch.no_grad():
    score = (vit(image).argmax(1) == kind).float().mean().item()
print("gratings told apart:", score)
assert score > 0.75, score
