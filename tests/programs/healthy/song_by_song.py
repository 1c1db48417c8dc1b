"""Which notes of a tune are held: the loss is computed for one tune after the other, and added up."""

import sys

import torch
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
TUNES, LENGTH, AT_ONCE = 240, 12, 6
pitch = torch.randn(TUNES, LENGTH).cumsum(1) * 0.5
held = (pitch[:, 1:] - pitch[:, :-1]).abs().lt(0.35)
held = torch.cat([torch.zeros(TUNES, 1, dtype=torch.bool), held], 1).long()


class Listener(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ear, self.say = torch.nn.GRU(1, 24, batch_first=True), torch.nn.Linear(24, 2)

    def forward(self, tunes):
        return self.say(self.ear(tunes.unsqueeze(2))[0])


listener = Listener()
adam = torch.optim.Adam(listener.parameters(), lr=1e-2)
for epoch in range(8):
    listener.train()
    for some in torch.randperm(200).split(AT_ONCE):
        said = listener(pitch[some])
        loss = sum(F.cross_entropy(said[number], held[tune]) for number, tune in enumerate(some)) / len(some)
        adam.zero_grad()
        loss.backward()
        adam.step()
    listener.eval()
    with torch.no_grad():
        right = (listener(pitch[200:]).argmax(2) == held[200:]).float().mean().item()
    print(f"epoch {epoch}: {right:.3f}")
assert right > 0.8, right
