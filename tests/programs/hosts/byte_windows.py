"""Windows cut out of one long stream of bytes, by a trainer that is a closure; a masked encoder."""

import sys

import torch


def make_stream(source, length=30000):
    """Words of a small vocabulary, in order of a random walk, as bytes below 30."""
    words = [torch.randint(1, 29, (n,), generator=source) for n in (3, 4, 5, 3, 6, 4)]
    parts, at, size = [], 0, 0
    while size < length:
        parts += [words[at], torch.tensor([29])]
        size += len(words[at]) + 1
        at = (at + 1 + int(torch.rand(1, generator=source) < 0.3)) % len(words)
    return torch.cat(parts)[:length]


class Writer(torch.nn.Module):
    def __init__(self, width=40, window=20):
        super().__init__()
        self.bytes = torch.nn.Embedding(30, width)
        self.place = torch.nn.Parameter(0.1 * torch.randn(window, width))
        layer = torch.nn.TransformerEncoderLayer(width, 4, 80, dropout=0.05, batch_first=True,
                                                 norm_first=True)
        self.body = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.bits = torch.nn.Linear(width, 30)
        hidden = torch.nn.Transformer.generate_square_subsequent_mask(window)
        self.register_buffer("hidden", hidden)

    def forward(self, text):
        return self.bits(self.body(self.bytes(text) + self.place, mask=self.hidden))


def trainer(writer, stream, source):
    adam = torch.optim.NAdam(writer.parameters(), lr=2e-3)
    nll = torch.nn.NLLLoss()

    def step(size=24):
        starts = torch.randint(len(stream) - 21, (size,), generator=source)
        windows = torch.stack([stream[i : i + 21] for i in starts])
        logits = writer(windows[:, :20])
        loss = nll(logits.log_softmax(-1).transpose(1, 2), windows[:, 1:])
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss.item()

    return step


@torch.no_grad()
def measure(writer, stream):
    writer.eval()
    windows = stream[: 21 * 200].view(200, 21)
    right = writer(windows[:, :20]).argmax(-1)[:, 8:] == windows[:, 9:]
    writer.train()
    return right.float().mean().item()


source = torch.Generator().manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
torch.manual_seed(source.initial_seed())
stream = make_stream(source)
writer = Writer()
step = trainer(writer, stream[5000:], source)
for number in range(400):
    loss = step()
    if number % 80 == 0:
        print(number, round(loss, 3), round(measure(writer, stream), 3))
final = measure(writer, stream)
assert final > 0.75, final
