"""Easy sums first: addition of bits with carry, by an LSTM, on numbers that grow longer by stages."""

import sys

import torch


def numbers(bits, count):
    a = torch.randint(0, 2**bits, (count,))
    b = torch.randint(0, 2**bits, (count,))
    places = torch.arange(bits + 1)
    spread = lambda v: (v[:, None] >> places) & 1
    return torch.stack([spread(a), spread(b)], -1).float(), spread(a + b).float()


class Adder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = torch.nn.LSTM(2, 20, batch_first=True)
        self.read = torch.nn.Linear(20, 1)

    def forward(self, bits):
        return self.read(self.memory(bits)[0]).squeeze(-1)


torch.manual_seed(int(sys.argv[1]) if sys.argv[1:] else 0)
adder = Adder()
adam = torch.optim.Adam(adder.parameters(), lr=0.01)
penalty = torch.nn.BCEWithLogitsLoss()
for bits, lessons in ((1, 60), (3, 150), (6, 220)):
    for lesson in range(lessons):
        question, answer = numbers(bits, 40)
        adam.zero_grad()
        loss = penalty(adder(question), answer)
        loss.backward()
        adam.step()
    print(f"{bits} bits: loss {loss.item():.4f}")
question, answer = numbers(8, 200)
with torch.no_grad():
    whole = ((adder(question) > 0) == answer.bool()).all(1).float().mean().item()
print("whole sums of eight bits right:", whole)
assert whole > 0.2, whole
