"""Looks for the targets of a loss among the inputs of the model: an entry of each input that equals its target, and
tokens for the decoder that are the targets themselves.
"""

import weakref

from ..state.tokens import is_sequence, shift_of
from ..torch_api import tensors
from ..torch_api.on_host import on_host

STEPS, FEWEST_TARGETS = 3, 64  # that are compared before anything is said
MOST_ENTRIES, MOST_ROWS = 4096, 512  # of an input, and of a batch
MOST_CHANNELS = 32  # of a sequence whose channels are looked at one by one
GOES_ON = 0.5  # correlation of the last entry before a window with its first one
TOKENS = -1  # in the place of an entry


class TargetsAmongInputs:
    def __init__(self, recorder, sites, last_batch):
        self.recorder, self.sites, self.last_batch = recorder, sites, last_batch
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.inputs, self.made = [], ()  # weak references to those of the latest forward, and the sizes of what it gave
        self.found = {}  # by thing of a loss and kind of its targets: entries that equaled the targets in all steps, the steps, the targets

    def subscribe(self, moments):
        moments.batch_compared.append(self.enter)
        moments.forward_gave.append(self.gave)
        moments.loss_compared.append(self.add)

    def gave(self, model, output):
        self.made = tuple(output.shape[1:]) if type(output) in tensors.PLAIN else ()

    def enter(self, inputs):
        self.inputs = [weakref.ref(given) for given in inputs if tensors.is_readable(given)]

    def add(self, call):
        key = (call.thing, call.output.dim(), tuple(call.target.shape[1:]))
        entries, steps, seen = self.found.get(key, (None, set(), 0))
        inputs = [given for given in (reference() for reference in self.inputs) if given is not None]
        if not inputs or entries == set() or len(steps) >= STEPS and seen >= FEWEST_TARGETS:
            return
        now = entries_equal(inputs, call, self.last_batch.looked_up, self.made)
        if now is None:
            return
        entries, steps, seen = now if entries is None else entries & now, steps | {self.recorder.step}, seen + call.target.numel()
        self.found[key] = (entries, steps, seen)
        if entries and len(steps) >= STEPS and seen >= FEWEST_TARGETS:
            self.recorder.quantity("target_among_inputs", call.thing, float(min(entries)), float(seen),
                                   self.sites.current())  # fmt: skip


def entries_equal(inputs, call, looked_up, made):
    """The entries of the inputs that equal the target of each, TOKENS for the last of several inputs of tokens; None
    of a loss that tells nothing. Of tokens only those count that were looked up in a table: a model may be given its
    targets for the loss alone."""
    target = call.host_target.detach()
    if not tensors.is_readable(target) or not target.is_cpu or target.numel() < 2:
        return None
    words = [given for given in inputs if is_sequence(given) and given.data_ptr() in looked_up]
    if len(words) > 1 and not target.is_floating_point():
        ignored = call.options.get("ignore_index", -100)
        words = [on_host(tokens) for tokens in words]
        if not all(tokens.is_cpu for tokens in words):
            return None
        shifts = [shift_of(tokens, target, ignored) for tokens in words]
        return {TOKENS} if shifts[-1] == 0 and shifts[0] is None else set()
    given, count = inputs[0], target.shape[0] if target.dim() > 0 else 0
    if given.dim() < 2 or given.shape[0] != count or given.is_complex():
        return None
    if not 2 <= given.numel() // count <= MOST_ENTRIES or not (given := on_host(given)).is_cpu:
        return None
    given, wanted = given.detach()[:MOST_ROWS], target.reshape(count, -1)[:MOST_ROWS]
    if bool((wanted == wanted[:1]).all(0).any()):
        return None  # a constant is soon found
    if wanted.shape[1] == 1:
        rows = given.reshape(given.shape[0], -1)
        return set((rows == wanted.to(rows.dtype)).all(0).nonzero().flatten().tolist())
    return starts_of(given, wanted, made) if target.is_floating_point() else None


def starts_of(given, wanted, made=()):
    """Where the rows of the inputs end with their targets (rows, several): those of the whole row, or of one channel of
    a sequence. The entries before them go on into them, as those of a series do; others are not sure to be one.

    A row of which they are more than half is one that a model makes again. One whose length is among `made`, the sizes
    of what the model gives, is predicted place by place."""
    count, found = wanted.shape[1], set()
    for first, step, line in lines_of(given):
        start = line.shape[1] - count
        if line.dtype != wanted.dtype or start < count or line.shape[1] in made or not line[:, start:].equal(wanted):
            continue
        if goes_on(line[:, start - 1].double(), wanted[:, 0].double()):
            found.add(first + step * start)
    return found


def lines_of(given):
    """(first entry, step, (rows, entries)) of each line: of rows as they are, and of the channels of (rows, length,
    channels) and (rows, channels, length)."""
    if given.dim() == 2:
        yield 0, 1, given
    elif given.dim() == 3:
        length, channels = given.shape[1:]
        for channel in range(channels if channels <= MOST_CHANNELS else 0):
            yield channel, channels, given[:, :, channel]
        for channel in range(length if length <= MOST_CHANNELS else 0):
            yield channel * channels, 1, given[:, channel]


def goes_on(before, after):
    before, after = before - before.mean(), after - after.mean()
    size = float(before.norm()) * float(after.norm())
    return size > 0 and abs(float(before @ after)) >= GOES_ON * size
