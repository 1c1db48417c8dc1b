"""Counts the tokens that the trained part of each row ends with: a model that learns where texts end sees one token
there, or a few.
"""

from ..state.tokens import shift_of
from ..torch_api import tensors

FEWEST_ROWS, MOST_ROWS = 64, 4096


class OpenEnds:
    def __init__(self, recorder, sites, last_batch):
        self.recorder, self.sites, self.last_batch = recorder, sites, last_batch
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.ends, self.next = {}, FEWEST_ROWS  # by token: rows whose trained part ends with it

    def subscribe(self, moments):
        moments.loss_compared.append(self.add)

    def add(self, call):
        """Of rows whose targets are the next tokens and which are ignored from some place on."""
        ignored = call.options.get("ignore_index", -100)
        if call.function not in ("cross_entropy", "nll_loss") or self.next > MOST_ROWS:
            return
        target = call.host_target
        if not tensors.is_readable(target) or not target.is_cpu or target.is_floating_point():
            return
        for tokens in self.last_batch.tokens():
            if tokens.is_cpu and shift_of(tokens, target, ignored) == 1:
                self.count(target.reshape(tokens.shape[0], -1), ignored)
                self.tell(call.thing)
                return

    def count(self, rows, ignored):
        counted = rows != ignored
        places = counted * (1 + counted.cumsum(1))
        lasts = places.argmax(1)
        for row, last in zip(rows.tolist(), lasts.tolist()):
            if row[last] != ignored and last < len(row) - 1:
                self.ends[row[last]] = self.ends.get(row[last], 0) + 1

    def tell(self, thing):
        counts = list(self.ends.values())
        if sum(counts) >= self.next:
            self.next = 2 * sum(counts)
            self.recorder.quantity("end_tokens", thing, float(len(counts)), max(counts) / sum(counts),
                                   self.sites.current())  # fmt: skip
