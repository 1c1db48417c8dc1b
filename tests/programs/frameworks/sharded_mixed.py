"""The next word told by sharded blocks in bf16, recomputed, with uneven micro-batches that reduce at the last.

fully_shard with a policy of mixed precision on two processes, from a state that was saved before.
"""

import sys
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
words = torch.randint(1, 6, (2000, 11))
for place in range(2, 11):
    words[:, place] = 1 + (2 * words[:, place - 1] + words[:, place - 2]) % 5


class Sentences(TensorDataset):
    """How many words there are is drawn anew each time; zeros fill the rest."""

    def __getitem__(self, row):
        (sentence,) = super().__getitem__(row)
        kept = torch.arange(11) < torch.randint(5, 12, ())
        return (sentence * kept)[:-1], (sentence * kept).masked_fill(~kept, -100)[1:]


data = Sentences(words[:1650])


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.05)
        self.mix, self.out = nn.Conv1d(width, width, 2), nn.Linear(width, width)

    def forward(self, x):
        shifted = F.pad(self.norm(x).transpose(1, 2), (1, 0))
        return x + self.drop(self.out(F.gelu(self.mix(shifted).transpose(1, 2))))


class Tagger(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.given = nn.Embedding(6, width)
        self.blocks = nn.ModuleList([Block(width), Block(width)])
        self.said = nn.Linear(width, 6)

    def forward(self, x):
        x = self.given(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.said(x)


folder = tempfile.mkdtemp()
model = Tagger()
torch.save(Tagger().state_dict(), f"{folder}/start.{rank}.pt")
model.load_state_dict(torch.load(f"{folder}/start.{rank}.pt"))
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
for block in model.blocks:
    fully_shard(block, mesh=mesh, mp_policy=policy)
fully_shard(model, mesh=mesh, mp_policy=policy)
optimizer = torch.optim.AdamW(
    [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.03},
     {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}],
    lr=6e-3)  # fmt: skip
sampler = DistributedSampler(data, shuffle=True)
loader = DataLoader(data, batch_size=16, sampler=sampler, num_workers=1, persistent_workers=True)
held = DataLoader(Sentences(words[1650:]), batch_size=50)
epochs, window = 6, 3
rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * -(-len(loader) // window), eta_min=4e-4)
for epoch in range(epochs):
    model.train()
    sampler.set_epoch(epoch)
    batches = list(loader)
    for start in range(0, len(batches), window):
        parts = batches[start : start + window]
        counted = sum((wanted != -100).sum() for _, wanted in parts)
        for number, (given, wanted) in enumerate(parts, 1):
            model.set_requires_gradient_sync(number == len(parts))
            logits = model(given).float().flatten(0, 1)
            loss = F.nll_loss(logits.log_softmax(-1), wanted.flatten(), reduction="sum")
            (loss / counted).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        rate.step()
        optimizer.zero_grad()
    model.eval()
    right = total = 0
    with torch.no_grad():
        for given, wanted in held:
            right += (model(given).argmax(-1) == wanted).sum().item()
            total += (wanted != -100).sum().item()
right /= total
state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
if rank == 0:
    torch.save(state, f"{folder}/model.pt")
print(rank, right)
assert right > 0.7, right
dist.destroy_process_group()
