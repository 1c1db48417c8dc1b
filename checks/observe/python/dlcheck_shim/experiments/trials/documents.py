"""Which inputs mark the documents that share a row: positions that begin again at 0, numbers of
documents, or where each begins and ends among all tokens."""

import torch

from ...state.tokens import sequences
from .changes import other_values

WHOLE = (torch.int64, torch.int32)
FEWEST_NUMBERED = 3  # documents in a row: a pair of texts with their numbers is no packing


class Marks:
    """The tokens, the number in its row of the document at each of them (-1: none), and the inputs that
    say so."""

    def __init__(self, tokens, order, marks):
        self.tokens, self.order, self.marks = tokens, order, marks

    def merged(self):
        """(mark, what it would be if each row were one document)."""
        return [(mark, merged(mark, self.tokens)) for mark in self.marks]

    def renumbered(self):
        """(mark, other numbers for the same documents)."""
        return [(mark, renumbered(mark)) for mark in self.marks if is_numbered(mark)]

    def are_safe_to_merge(self):
        """On an accelerator, a position beyond a model's table would end the program."""
        return self.tokens.is_cpu or not any(m.dim() == 2 and is_restarting(m) for m in self.marks)


def marks_of(inputs):
    """Marks of the first input that is neither a mark itself nor a target; None without any."""
    rows = [t for t in inputs if t.dtype in WHOLE and t.dim() == 1] + sequences(inputs)
    found = [(t, mark, starts) for t in rows for mark in inputs if mark is not t
             for starts in [starts_of(mark, t)] if starts is not None]  # fmt: skip
    marking = {id(mark) for _, mark, _ in found}
    for tokens in rows:
        own = [(mark, starts) for t, mark, starts in found if t is tokens]
        if not own or id(tokens) in marking or bool((tokens < 0).any()):
            continue
        starts = own[0][1]
        order = order_of(starts, tokens)
        if int(order.max()) >= fewest(own[0][0], tokens) - 1:
            same = [mark for mark, others in own if torch.equal(order_of(others, tokens), order)]
            return Marks(tokens, order, same)
    return None


def fewest(mark, tokens):
    return FEWEST_NUMBERED if is_numbered(mark) and mark.dim() == tokens.dim() else 2


def starts_of(mark, tokens):
    """bool like the tokens, true where a document begins; None where the input is no mark of them."""
    if mark.dtype not in WHOLE or mark.numel() < 3:
        return None
    if mark.dim() == 1 and mark[0] == 0 and mark[-1] == tokens.numel():
        return starts_of_lengths(mark, tokens) if bool((mark[1:] > mark[:-1]).all()) else None
    if tokens.dim() != 2 or mark.dim() != 2 or mark.shape[1] != tokens.shape[1]:
        return None
    if mark.shape[0] not in (1, tokens.shape[0]):
        return None
    if is_restarting(mark):
        return (mark == 0).expand_as(tokens)
    return begins(mark).expand_as(tokens) if is_numbered(mark) else None


def starts_of_lengths(borders, tokens):
    starts = torch.zeros(tokens.numel(), dtype=torch.bool, device=tokens.device)
    starts[borders[:-1].long().to(tokens.device)] = True
    starts = starts.view(tokens.shape)
    return starts if tokens.dim() == 1 or bool(starts[:, 0].all()) else None


def is_restarting(mark):
    """Positions: each is 0 or one more than the one before it. Where they begin again after equal
    stretches alone, they may as well be columns of a table."""
    if bool(mark[:, 0].any()):
        return False
    ahead, zero = mark[:, 1:], mark[:, 1:] == 0
    if not bool((zero | (ahead == mark[:, :-1] + 1)).all()):
        return False
    equal = count_up(mark) % (mark.max() + 1)
    return not torch.equal(mark, equal)


def is_numbered(mark):
    """Numbers of documents: 0 or 1 first, then one more each time; after the last one 0 or -1 again."""
    if mark.dim() != 2:
        return False
    step = mark[:, 1:] - mark[:, :-1]
    first = mark[:, 0]
    over = (mark[:, 1:] == first[:, None] - 1).cummax(1).values  # padding
    fits = (step == 0) | (step == 1) | over
    ends = ~over | (mark[:, 1:] == first[:, None] - 1)
    return bool(((first == 0) | (first == 1)).all() and fits.all() and ends.all() and step.any())


def begins(mark):
    starts = torch.ones_like(mark, dtype=torch.bool)
    starts[:, 1:] = mark[:, 1:] != mark[:, :-1]
    return starts


def order_of(starts, tokens):
    """Counts the documents of each row. One of a single token, or of one token again and again as in
    padding, is none."""
    length = tokens.shape[-1]
    number = starts.reshape(-1).long().cumsum(0) - 1
    values, count = tokens.reshape(-1), int(number[-1]) + 1
    low = torch.full((count,), values.max().item(), dtype=values.dtype, device=values.device)
    high = torch.full_like(low, values.min().item())
    low = low.scatter_reduce(0, number, values, "amin")
    high = high.scatter_reduce(0, number, values, "amax")
    kept = low < high
    before = kept.long().cumsum(0) - kept.long()
    in_row = before[number] - before[number[::length]].repeat_interleave(length)
    return torch.where(kept[number], in_row, -1).view(tokens.shape)


def merged(mark, tokens):
    """The mark of rows that hold one document each; positions may then be beyond what a model knows."""
    if mark.dim() == 1:
        return mark[:: mark.numel() - 1] if tokens.dim() == 1 or tokens.shape[0] == 1 else mark
    return count_up(mark) if is_restarting(mark) else mark[:, :1].expand_as(mark).clone()


def renumbered(mark):
    other, documents = mark.clone(), mark >= mark[:, :1]
    other[documents] = other_values(mark[documents])
    return other


def count_up(mark):
    return torch.arange(mark.shape[1], dtype=mark.dtype, device=mark.device).repeat(mark.shape[0], 1)
