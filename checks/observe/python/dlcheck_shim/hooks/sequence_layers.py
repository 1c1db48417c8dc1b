"""Looks at what recurrent and attention layers are given: which axis they take for the batch, what their mask of
padding leaves for attention, and whether samples drawn at random begin with the state of others.
"""

import dataclasses

import torch

from ..autograd.padded_states import mark_ends, mark_output
from ..torch_api import tensors
from ..torch_api.attributes import attribute
from ..torch_api.capabilities import is_compiling
from ..torch_api.on_host import is_at_hand, on_host
from ..torch_api.wrapping import followed_by, replace

LAYERS = (torch.nn.RNNBase, torch.nn.MultiheadAttention)
FEWEST_LENGTHS = 2  # of rows that were packed
MASK = "key_padding_mask"
PLACE_OF_MASK = 3  # among the arguments of attention
MOST_ENTRIES = 1024  # of a state that are compared
MOST_CALLS = 16  # of a recurrent layer, in which its padding is looked for


@dataclasses.dataclass
class Sizes:
    """Of the last input of a layer, and what the step says of them."""

    batch: int = 0
    time: int = 0
    site: int = 0
    calls: int = 0
    losses: int = 0  # with as many targets as there are times
    loader_agrees: bool = False  # its batches have as many samples as there are times


class SequenceLayers:
    def __init__(self, guard, recorder, sites, last_batch, loaders):
        self.recorder, self.sites, self.last_batch, self.loaders = recorder, sites, last_batch, loaders
        self.look_at_mask = guard.isolated("mask")(self.look_at_mask)
        self.add = guard.isolated("sequence")(self.add)
        self.look_at_state = guard.isolated("state")(self.look_at_state)
        self.mark_ends = guard.isolated("state")(self.mark_ends)
        self.unpacked = guard.isolated("state")(self.unpacked)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.sizes, self.told = {}, set()  # by thing of a layer
        self.losses = 0  # of the step, with a target for each of several samples
        self.calls = {}  # by thing of a recurrent layer
        # By thing: step, state at its end and batch of a loader; steps that began with such a state.
        self.states, self.carried = {}, {}

    def watch_all(self):
        replace([torch.nn.utils.rnn], "pad_packed_sequence", followed_by(self.unpacked))

    def unpacked(self, result, args, kwargs):
        """A packed sequence is padded again: the outputs behind the end of a row are zeros."""
        if not self.recorder.sampled or is_compiling() or type(result) is not tuple or not tensors.may_compute():
            return
        (outputs, lengths), first = result, kwargs.get("batch_first", args[1] if len(args) > 1 else False)
        if not tensors.is_plain(outputs) or not (lengths := on_host(lengths)).is_cpu or lengths.unique().numel() < FEWEST_LENGTHS:
            return
        missing = lengths.max() - lengths
        thing = self.recorder.thing("operation", 0, "pad_packed_sequence")
        mark_output(outputs, bool(first), (thing, int(missing.max()), int((missing > 0).sum()), self.sites.current()))

    def subscribe(self, moments):
        moments.loss_examined.append(self.compare)
        moments.sampled_stepped.append(self.end_step)

    def add(self, layer, thing, args, kwargs, output):
        """After a call of a layer in training, in a sampled step."""
        given = args[0] if args else kwargs.get("input", kwargs.get("query"))
        if not thing or not tensors.is_plain(given) or given.dim() != 3:
            return
        batch, time = given.shape[:2] if attribute(layer, "batch_first") else (given.shape[1], given.shape[0])
        sizes = self.sizes.setdefault(thing, Sizes())
        sizes.batch, sizes.time, sizes.site, sizes.calls = batch, time, self.sites.current(), sizes.calls + 1
        if isinstance(layer, torch.nn.MultiheadAttention) and thing not in self.told:
            mask = args[PLACE_OF_MASK] if len(args) > PLACE_OF_MASK else kwargs.get(MASK)
            if tensors.is_plain(mask) and mask.dim() == 2 and (mask := on_host(mask)).is_cpu:
                self.look_at_mask(thing, mask)
        if isinstance(layer, torch.nn.RNNBase) and tensors.may_compute():
            self.calls[thing] = self.calls.get(thing, 0) + 1
            if self.calls[thing] <= MOST_CALLS:
                self.mark_ends(thing, given, bool(attribute(layer, "batch_first")), output)
        if isinstance(layer, torch.nn.RNNBase) and self.loaders.draws_at_random():
            self.look_at_state(thing, args[1] if len(args) > 1 else kwargs.get("hx"), output)

    def mark_ends(self, thing, given, batch_first, output):
        with tensors.unrecorded():
            mark_ends(thing, given, batch_first, self.last_batch.words_asked(), output, self.sites.current())

    def compare(self, call):
        """At a loss: with one target for each sample, that tells how many samples there are, and otherwise the
        loader of the batch does."""
        target = call.target
        are_samples = target.dim() == 1 and call.output.shape[:1] == target.shape and not self.flattened(target)
        samples = target.shape[0] if are_samples else self.loaders.batch_size()
        self.losses += are_samples and samples > 1
        for sizes in self.sizes.values():
            # Where the batch is a multiple of the samples, each sample has several sequences.
            if samples and sizes.time == samples and sizes.batch != 1 and sizes.batch % samples:
                sizes.losses += are_samples
                sizes.loader_agrees |= not are_samples

    def end_step(self):
        """Of losses that a program computes sequence by sequence, there are more than calls, or others for shorter
        sequences."""
        for thing, sizes in self.sizes.items():
            if sizes.loader_agrees or 0 < sizes.losses == sizes.calls == self.losses:
                self.recorder.quantity("swapped_batch_axis", thing, float(sizes.time), float(sizes.batch), sizes.site)
        self.sizes.clear()
        self.losses = 0

    def flattened(self, target):
        """Whether there is a target for each position of a batch."""
        return any(target.shape[0] == sizes.batch * sizes.time for sizes in self.sizes.values())

    def look_at_mask(self, thing, mask):
        """Tokens tell padding from words: where all that is not masked is one token, and what is masked is many,
        the mask has the wrong sense."""
        hidden = mask if mask.dtype is torch.bool else mask == -torch.inf
        for tokens in self.last_batch.tokens():
            if tokens.shape != hidden.shape or not tokens.is_cpu:
                continue
            shown, masked = tokens[~hidden].unique(), tokens[hidden].unique()
            if shown.numel() == 1 and masked.numel() > 1:
                self.told.add(thing)
                self.recorder.quantity("inverted_mask", thing, float(masked.numel()), float(hidden.sum()),
                                       self.sites.current())  # fmt: skip

    def look_at_state(self, thing, given, output):
        """Within a step, and within a batch of a loader, a long sequence may go on with the state of its part before."""
        begun, ended = first_entries(given), first_entries(output[1] if isinstance(output, tuple) else None)
        step, before, batch = self.states.get(thing, (-1, None, None))
        is_later = step < self.recorder.step and batch is not self.loaders.handed_out
        if begun is not None and before is not None and is_later:
            if torch.equal(begun, before) and bool(begun.any()):
                self.carried[thing] = self.carried.get(thing, 0) + 1
                self.recorder.quantity("carried_state", thing, float(self.carried[thing]), site=self.sites.current())
        if ended is not None:
            self.states[thing] = (self.recorder.step, ended, self.loaders.handed_out)


def first_entries(state):
    state = state[0] if isinstance(state, tuple) and state else state
    if not tensors.is_plain(state) or not is_at_hand(state) or not tensors.may_compute():
        return None
    with tensors.unrecorded():
        return state.detach().reshape(-1)[:MOST_ENTRIES].clone()
