"""Looks for a class that a loss ignores although it stands within rows, before targets that count: padding has then the
number of a real token.
"""

from ..state.tokens import shift_of
from ..torch_api import tensors

CALLS, FEWEST = 8, 16  # losses that are looked at, ignored targets in all of them
LEAST_SHARE = 0.02  # of the targets


class IgnoredWithin:
    def __init__(self, recorder, sites, last_batch):
        self.recorder, self.sites, self.last_batch = recorder, sites, last_batch
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.calls, self.within, self.all = 0, 0, 0

    def subscribe(self, moments):
        moments.loss_compared.append(self.add)

    def add(self, call):
        ignored = call.options.get("ignore_index", -100)
        if self.calls == CALLS or call.function not in ("cross_entropy", "nll_loss") or ignored < 0:
            return
        target = call.host_target
        if not tensors.is_readable(target) or not target.is_cpu or target.is_floating_point():
            return
        for tokens in self.last_batch.tokens():
            if tokens.is_cpu and shift_of(tokens, target, ignored) == 1:
                self.calls, self.all = self.calls + 1, self.all + target.numel()
                self.within += count_within(target.reshape(tokens.shape[0], -1) != ignored)
                if self.calls == CALLS and self.within >= max(FEWEST, LEAST_SHARE * self.all):
                    self.recorder.quantity("ignored_within", call.thing, float(self.within), float(ignored),
                                           self.sites.current())  # fmt: skip
                return


def count_within(counted):
    """Of rows that say which targets count: how many do not, and stand between two that do."""
    before = counted.cumsum(1) > 0
    after = counted.flip(1).cumsum(1).flip(1) > 0
    return int((before & after & ~counted).sum())
