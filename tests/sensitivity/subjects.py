"""For each trial: a small model in float32 with a fault of a given strength, and what the trial is given."""

import dataclasses
import typing

import torch
import torch.nn.functional as F
from dlcheck_shim.experiments.trials import packed, shortened
from dlcheck_shim.experiments.trials.capture import Call
from dlcheck_shim.experiments.trials.dropout import try_dropout
from dlcheck_shim.experiments.trials.future import try_future
from dlcheck_shim.experiments.trials.neighbors import try_neighbors
from dlcheck_shim.experiments.trials.padding import try_padding
from torch import nn

WORDS, WIDTH, BATCH, LENGTH, PAD = 40, 32, 8, 32, 0
IGNORED = -100


class Model(nn.Module):
    """Causal attention over the tokens that `seen` shows; `fault` gets what it put out before the head."""

    def __init__(self, fault):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.mix, self.head = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WORDS)
        self.fault = fault

    def forward(self, tokens, hidden=None, positions=None):
        length = tokens.shape[1]
        positions = torch.arange(length).expand_as(tokens) if positions is None else positions
        number = (positions == 0).cumsum(1)
        seen = (number[:, None] == number[:, :, None]) & torch.ones(length, length).tril().bool()
        if hidden is not None:
            seen = seen & ~hidden[:, None] | torch.eye(length).bool()
        x = self.words(tokens) + self.places(positions)
        x = x + F.scaled_dot_product_attention(*self.mix(x).chunk(3, -1), attn_mask=seen)
        return self.head(self.fault(x))


@dataclasses.dataclass(frozen=True)
class Subject:
    check: str
    strength: str  # what it is a share of
    attempt: typing.Callable  # the trial
    fault: typing.Callable  # (x, strength): what the model hands on
    given: typing.Callable  # dice: arguments of the call


def texts(dice):
    return torch.randint(1, WORDS, (BATCH, LENGTH), generator=dice)


def padded(dice):
    tokens = texts(dice)
    ends = torch.randint(8, LENGTH, (BATCH, 1), generator=dice)
    tokens[torch.arange(LENGTH) >= ends] = PAD
    return tokens, tokens == PAD


def packed_rows(dice):
    begins = torch.zeros(BATCH, LENGTH).scatter(1, torch.randint(2, LENGTH, (BATCH, 3), generator=dice), 1)
    begins[:, 0] = 1
    place = torch.arange(LENGTH)
    return texts(dice), None, place - torch.where(begins == 1, place, 0).cummax(1).values


def plain(dice):
    return (texts(dice),)


SUBJECTS = {
    "future": Subject(
        "attention/causal_mask_leak", "of the next position, added to each", try_future,
        lambda x, share: x + share * x.roll(-1, 1), plain),
    "neighbors": Subject(
        "model/cross_sample_leak", "of the batch's mean, added to each sample", try_neighbors,
        lambda x, share: x + share * x.mean(0), plain),
    "padding": Subject(
        "attention/unmasked_padding", "of the row's mean, padding included, added", try_padding,
        lambda x, share: x + share * x.mean(1, keepdim=True), padded),
    "shortened": Subject(
        "attention/unmasked_padding", "of itself for each position of the batch, added",
        shortened.try_shortened, lambda x, share: x * (1 + share * x.shape[1]), padded),
    "packed": Subject(
        "attention/cross_document_attention", "of the row's mean, other documents included, added",
        packed.try_packed, lambda x, share: x + share * x.mean(1, keepdim=True), packed_rows),
    "dropout": Subject(
        "evaluation/active_dropout", "probability of a dropped number", try_dropout,
        lambda x, share: F.dropout(x, share), plain),
}  # fmt: skip


def call_of(subject, strength):
    """The captured call of a model with the fault, always the same but for its strength."""
    torch.manual_seed(0)
    model = Model(lambda x: subject.fault(x, strength))
    given = subject.given(torch.Generator().manual_seed(0))
    call = Call(model, given, {})
    call.targets.append((given[0].roll(-1, 1).index_fill(1, torch.tensor(LENGTH - 1), IGNORED), IGNORED))
    return call


def backward_of(strength):
    """A function whose backward is off by this share."""

    class Swish(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x.sigmoid()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            s = x.sigmoid()
            return grad * (s + x * s * (1 - s)) * (1 + strength)

    return Swish
