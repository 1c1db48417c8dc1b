"""Counts texts that fill all places of their row and lack the token that ends each shorter one: they were cut off."""

from ..autograd.attention_reach import padding_of
from ..state.tokens import shift_of
from ..torch_api import tensors

FEWEST_ROWS, MOST_ROWS = 64, 4096


class CutRows:
    def __init__(self, recorder, sites, last_batch):
        self.recorder, self.sites, self.last_batch = recorder, sites, last_batch
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.ends = set()  # tokens that end the shorter rows
        self.shorter, self.last = 0, {}  # rows; by last token and the target behind it, full rows
        self.next = FEWEST_ROWS

    def subscribe(self, moments):
        moments.loss_compared.append(self.add)

    def add(self, call):
        if self.next > MOST_ROWS or len(self.ends) > 1:
            return
        for tokens in self.last_batch.words():
            padding = padding_of(tokens) if tokens.is_cpu else None
            if padding is not None:
                following = next_of(tokens, call)
                if following is not None or are_of_rows(tokens, call):
                    self.count(tokens, padding, following)
                    self.tell(call.thing)
                return

    def count(self, tokens, padding, following):
        """`following`: the targets after the last tokens, None if targets are something else. A model that is trained
        on the next token is given all but the last one, and that may be the end."""
        full = ~padding.any(1)
        lengths = (~padding).sum(1)
        rows = (~full & (lengths > 0)).nonzero()[:, 0]
        self.ends.update(tokens[rows, lengths[rows] - 1].tolist())
        self.shorter += len(rows)
        last = tokens[full, -1]
        behind = last if following is None else following[full]
        for pair in zip(last.tolist(), behind.tolist()):
            self.last[pair] = self.last.get(pair, 0) + 1

    def tell(self, thing):
        full = sum(self.last.values())
        if self.shorter + full < self.next or len(self.ends) != 1:
            return
        self.next = 2 * (self.shorter + full)
        cut = sum(count for pair, count in self.last.items() if not self.ends.intersection(pair))
        if cut:
            self.recorder.quantity("cut_rows", thing, float(cut), float(self.shorter + full), self.sites.current())


def are_of_rows(tokens, call):
    """Whether targets belong to whole rows, or to each token of them: others may be the next tokens in another
    arrangement, as packed ones are."""
    if call.target.numel() == len(tokens):
        return True
    target, ignored = call.host_target, call.options.get("ignore_index", -100)
    return target.numel() == tokens.numel() and (target.is_floating_point() or shift_of(tokens, target, ignored) is None)


def next_of(tokens, call):
    target, ignored = call.host_target, call.options.get("ignore_index", -100)
    if not tensors.is_readable(target) or not target.is_cpu or shift_of(tokens, target, ignored) != 1:
        return None
    return target.reshape(tokens.shape[0], -1)[:, -1]
