"""A one-class detector: anchors on a grid, box offsets regressed with smooth L1 only where an anchor matched."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE, CELLS = 24, 6
SHAPES = torch.tensor([[5.0, 5.0], [9.0, 9.0]])


def scenes(count):
    pictures = 0.1 * torch.randn(count, 1, SIZE, SIZE)
    boxes = torch.zeros(count, 4)
    for i in range(count):
        w, h = torch.randint(4, 11, (2,)).tolist()
        x, y = int(torch.randint(0, SIZE - w, ())), int(torch.randint(0, SIZE - h, ()))
        pictures[i, 0, y:y + h, x:x + w] += 1
        boxes[i] = torch.tensor([x, y, x + w, y + h])
    return pictures, boxes


def anchors():
    middle = (torch.arange(CELLS) + 0.5) * SIZE / CELLS
    cy, cx = torch.meshgrid(middle, middle, indexing="ij")
    return torch.cat([torch.stack([cx, cy, torch.full_like(cx, w), torch.full_like(cx, h)], -1)
                      for w, h in SHAPES.tolist()]).reshape(-1, 4)


def corners(b):
    return torch.cat([b[..., :2] - b[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2], -1)


def iou(a, b):
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    inner = (high - low).clamp(min=0).prod(-1)
    return inner / ((a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - inner)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1), nn.ReLU())
        self.score, self.box = nn.Conv2d(32, 2, 1), nn.Conv2d(32, 8, 1)
        self.register_buffer("anchors", anchors())

    def forward(self, x):
        h = self.body(x)
        box = self.box(h).unflatten(1, (2, 4)).permute(0, 1, 3, 4, 2).flatten(1, 3)
        return self.score(h).flatten(1), box

    def decode(self, offsets):
        a = self.anchors
        return corners(torch.cat([a[:, :2] + offsets[..., :2] * a[:, 2:], a[:, 2:] * offsets[..., 2:].exp()], -1))

    def encode(self, box):
        a, box = self.anchors, box[:, None]
        center, size = (box[..., :2] + box[..., 2:]) / 2, box[..., 2:] - box[..., :2]
        return torch.cat([(center - a[:, :2]) / a[:, 2:], (size / a[:, 2:]).log()], -1)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = Detector()
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
pictures, boxes = scenes(640)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        score, offset = net(pictures[rows])
        overlap = iou(corners(net.anchors)[None], boxes[rows][:, None])
        match = (overlap > 0.5) | (overlap == overlap.amax(1, keepdim=True))
        ignored = (overlap > 0.3) & ~match
        objectness = F.binary_cross_entropy_with_logits(score, match.float(), reduction="none")
        where = F.smooth_l1_loss(offset[match], net.encode(boxes[rows])[match], beta=0.1, reduction="sum")
        loss = (objectness * ~ignored).sum() / match.sum() + where / match.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
net.eval()
pictures, boxes = scenes(200)
with torch.no_grad():
    score, offset = net(pictures)
    best = net.decode(offset)[torch.arange(200), score.argmax(1)]
found = (iou(best, boxes) > 0.5).float().mean().item()
print(f"objects found: {found:.2f}")
assert found > 0.6, found
