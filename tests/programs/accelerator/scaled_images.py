"""Pictures in half precision with a scaled loss, channels last, from pinned memory."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
half = torch.float16 if device == "cuda" else torch.bfloat16
torch.manual_seed(3)


def pictures(count):
    """Each class lights up a quarter of a noisy picture."""
    labels = torch.randint(4, (count,))
    images = torch.randn(count, 3, 16, 16)
    for image, label in zip(images, labels):
        row, column = divmod(label.item(), 2)
        image[:, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8] += 0.7
    return TensorDataset(images, labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        )  # fmt: skip
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.body(x).mean(dim=(2, 3)))


EPOCHS = 6
train = DataLoader(pictures(1024), batch_size=64, shuffle=True, pin_memory=device == "cuda", drop_last=True)
held_out = DataLoader(pictures(512), batch_size=128)
net = Net().to(device, memory_format=torch.channels_last)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=EPOCHS * len(train))
scaler = torch.amp.GradScaler(device, enabled=device == "cuda", init_scale=2.0**12)

for epoch in range(EPOCHS):
    net.train()
    total = torch.zeros((), device=device)
    for images, labels in train:
        images = images.to(device, non_blocking=True, memory_format=torch.channels_last)
        labels = labels.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=half):
            loss = F.cross_entropy(net(images), labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        total += loss.detach()
    net.eval()
    right = 0
    with torch.no_grad():
        for images, labels in held_out:
            with torch.autocast(device, dtype=half):
                scores = net(images.to(device, memory_format=torch.channels_last))
            right += (scores.argmax(1).cpu() == labels).sum().item()
    print(f"epoch {epoch} loss {total.item() / len(train):.4f} accuracy {right / 512:.4f}")
print("weights", sum(p.detach().double().sum().item() for p in net.parameters()).hex())
assert right / 512 > 0.9
