"""The worth of each place of a random walk by temporal differences, with mini-batches of transitions from a data loader."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

PLACES, END = 9, 0.9


class Worth(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = nn.Embedding(PLACES, 24)
        self.out = nn.Linear(24, 1)

    def forward(self, place):
        return self.out(torch.relu(self.places(place)))


def walks(count, source):
    rows = []
    for _ in range(count):
        place, over = PLACES // 2, False
        while not over:
            following = place + (1 if torch.rand((), generator=source) < 0.5 else -1)
            over = following in (0, PLACES - 1)
            rows.append((place, float(following == PLACES - 1), following, float(over)))
            place = following
    place, reward, following, over = zip(*rows)
    return TensorDataset(torch.tensor(place), torch.tensor(reward)[:, None], torch.tensor(following), torch.tensor(over)[:, None])


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
loader = DataLoader(walks(200, torch.Generator().manual_seed(seed)), batch_size=100, shuffle=True, drop_last=True)
net, target = Worth(), Worth()
target.load_state_dict(net.state_dict())
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
criterion = nn.MSELoss()
for epoch in range(24):
    for place, reward, following, over in loader:
        with torch.no_grad():
            wanted = reward + END * target(following) * (1.0 - over)
        loss = criterion(net(place), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    target.load_state_dict(net.state_dict())
with torch.no_grad():
    worth = net(torch.arange(1, PLACES - 1)).squeeze(1)
print("worth", [round(value, 2) for value in worth.tolist()])
assert worth[-1] > worth[0] + 0.4, worth
