"""Watches what several processes are meant to hold alike: digests of parameters before their steps, and
the forwards of the wrapper that shares gradients.

Parameters are replicas where DistributedDataParallel holds them, or where the program itself puts
their gradients together at every step. Of those that are spread over a mesh of processes, pieces that
several hold are copies. All others are those of peers, of whom nothing is known.
"""

import torch
from torch.nn.parallel import DistributedDataParallel

from ..hooks.forward_inputs import in_backward
from ..record.digest import digest
from ..record.identity import IdentityMap
from ..state import walking
from ..state.optimizers import parameters_of, with_gradients
from ..torch_api import private, tensors
from ..torch_api.wrapping import followed_by, preceded_by, replace
from .copies import holders
from .groups import COPIES, PEERS, REPLICAS

# More are looked at only where the number of the step is 0 or a power of two.
MOST_OFTEN_BYTES = 64 << 20
MOST_LOOKS = 64  # at all gradients, in a step
MOST_CALLS = 65536  # between two steps: a process that only evaluates may never step
# Calls by which a program may put gradients together; of these alone, all in one piece.
SHARING = ("all_reduce", "all_gather", "all_gather_into_tensor", "reduce", "broadcast")
WHOLE = ("all_reduce", "all_gather", "all_gather_into_tensor")


class Wrapped:
    """What is known of a wrapper. Holds nothing alive."""

    def __init__(self, groups, wrapper):
        self.members = groups.members(wrapper.process_group)
        self.held, self.known = IdentityMap(), IdentityMap()
        self.frozen = IdentityMap()  # of those held: it shares no gradient of them, now or later
        for parameter in walking.parameters(wrapper):
            self.known.set(parameter, True)
        own = private.parameters_of_replica(wrapper)
        for parameter in walking.parameters(wrapper) if own is None else own:
            self.held.set(parameter, True)
            if not parameter.requires_grad:
                self.frozen.set(parameter, True)


class Replicas:
    def __init__(self, guard, recorder, sites, groups, models):
        self.recorder, self.sites, self.groups, self.models = recorder, sites, groups, models
        self.made = guard.isolated("replicas")(self.made)
        self.enters = guard.isolated("replicas")(self.enters)
        self.hooked = guard.isolated("replicas")(self.hooked)
        self.look = guard.isolated("replicas")(self.look)
        self.evaluated = guard.isolated("replicas")(self.evaluated)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.wrapped = IdentityMap()  # by wrapper
        self.reduced = {}  # elements of each operation since the last step, by members
        self.pieces = IdentityMap()  # members by parameter whose gradient was put together
        self.gradients, self.looked = {}, 0  # parameters by where their gradients lie
        self.sent = set()  # where tensors lie that were put together or sent
        self.sent_counts = []  # elements of operations between a step and the next backward
        self.by_hand = IdentityMap()  # of parameters: (members, steps), or None once it failed
        self.told = set()

    def watch_all(self):
        replace([DistributedDataParallel], "__init__", followed_by(self.made))
        replace([DistributedDataParallel], private.PRE_FORWARD, preceded_by(self.enters))
        replace([DistributedDataParallel], "register_comm_hook", followed_by(self.hooked))
        join = torch.distributed.algorithms.join.Join if torch.distributed.is_available() else None
        replace([join], "__enter__", preceded_by(lambda *_: self.tell("joins")))

    def subscribe(self, moments):
        moments.collective_called.append(self.called)
        moments.message_passed.append(self.called_to_one)
        moments.gradients_used.append(self.use)
        moments.evaluation_begun.append(self.evaluated)

    def tell(self, key):
        if key not in self.told:
            self.told.add(key)
            self.recorder.attribute(0, key, 1)

    def made(self, result, args, kwargs):
        wrapped = Wrapped(self.groups, args[0])
        self.wrapped.set(args[0], wrapped)
        group = self.thing(REPLICAS, wrapped.members)
        self.recorder.attribute(group, "wrapped", 1)
        if not getattr(args[0], "broadcast_buffers", True):
            self.recorder.attribute(group, "own_buffers", 1)
        elif next(torch.nn.Module.buffers(args[0]), None) is not None:
            self.recorder.attribute(group, "sends_buffers", 1)

    def hooked(self, result, args, kwargs):
        """A program may share other things than means on purpose."""
        self.tell("own_sharing")

    def enters(self, args, kwargs):
        wrapper, wrapped = args[0], self.wrapped.get(args[0])
        if wrapped is None or not self.recorder.sampled or not torch.is_grad_enabled():
            return
        self.recorder.event("shared_forward", 0, float(wrapper.require_backward_grad_sync),
                            site=self.sites.current(), owner=self.thing(REPLICAS, wrapped.members))  # fmt: skip

    def called(self, name, found, members):
        """An operation of all processes of a group begins."""
        if name in ("all_reduce", "broadcast"):
            self.sent.update(map(tensors.place_of, found))
        count = sum(tensor.numel() for tensor in found)
        within = in_backward()
        between = self.recorder.micro_step == 0 and not within  # there are no gradients of this step yet
        if between and name == "all_reduce" and len(self.sent_counts) < MOST_CALLS:
            self.sent_counts.append(count)
        if not count or not self.recorder.sampled:
            return
        are_gradients = False
        if name in SHARING and not between:
            if name in WHOLE and not (within and name != "all_reduce"):  # shards are gathered there, too
                self.reduced.setdefault(members, []).append(count)
            are_gradients = all([self.look_for_gradient(tensors.place_of(tensor), members) for tensor in found])
        if self.recorder.step > 0 and count > 1 and (within or between) and not are_gradients:
            self.tell("speaks_in_passes")
            if within or torch.is_grad_enabled():  # not about an evaluation
                self.tell("speaks_in_losses")

    def called_to_one(self):
        """What goes from one process to another may be anything, weights too."""
        if self.recorder.step > 0:
            self.tell("speaks_in_passes")
            self.tell("speaks_to_one")

    def look_for_gradient(self, place, members):
        """Whether a tensor lies where the gradient of a parameter does: asked at the call, because what
        is freed later may give its place to another."""
        if place not in self.gradients and self.looked < MOST_LOOKS and self.models.guard.is_alone():
            self.looked += 1
            self.gradients = {tensors.place_of(p.grad): p for p, _ in self.models.parameters.items()
                              if p.is_leaf and p.grad is not None}  # fmt: skip
        parameter = self.gradients.get(place) if place else None
        found = parameter is not None and tensors.place_of(parameter.grad) == place
        if found:
            self.pieces.set(parameter, members)
        return found

    def thing(self, kind, members):
        return self.groups.thing(kind, members)

    def use(self, optimizer, watched):
        """A process alone that called no collective has nothing to look at."""
        if self.groups.met > 1 or self.sent or self.reduced or self.sent_counts or self.looked:
            self.consumed(optimizer, watched)

    def consumed(self, optimizer, watched):
        """Before a step: what it is about to change."""
        if self.groups.size() > 1:
            self.look(optimizer, watched)
        self.reduced, self.sent, self.sent_counts = {}, set(), []
        self.gradients, self.looked = {}, 0
        self.pieces.clear()

    def look(self, optimizer, watched):
        recorder = self.recorder
        # Weights may be sent seldom, and in steps that are not looked at otherwise.
        if recorder.step > 0 and self.sends(parameters_of(optimizer)):
            self.tell("sends_weights")
        if recorder.sampled and tensors.may_compute():
            self.look_for_sharing(optimizer)
            with tensors.unrecorded():
                if self.takes_digests(optimizer):
                    self.write(optimizer, watched, self.groups.size())

    def sends(self, parameters):
        """Whether weights, or what they moved by, were put together or sent since the last step: each, or
        all in one piece, with buffers or without."""
        if "sends_weights" in self.told or not self.sent_counts and not self.sent:
            return False
        if any(tensors.place_of(p) in self.sent for p in parameters):
            return True
        count = sum(p.numel() for p in parameters)
        buffers = {id(buffer): buffer for root, _ in self.models.roots.items()
                   for _, buffer in walking.named_buffers(root)}.values()  # fmt: skip
        floating = sum(buffer.numel() for buffer in buffers if buffer.is_floating_point())
        wholes = {count, count + floating, count + sum(buffer.numel() for buffer in buffers)}
        return any(are_all(self.sent_counts, whole) for whole in wholes)

    def takes_digests(self, optimizer):
        if self.recorder.digests or not self.recorder.detailed:
            return self.recorder.digests
        held = map(tensors.local, parameters_of(optimizer))
        return sum(part.numel() * part.element_size() for part in held) <= MOST_OFTEN_BYTES

    def look_for_sharing(self, optimizer):
        """Which parameters had their gradients put together by the program itself, at every step until
        now: each for itself, or all of them in one piece."""
        owners = [p for p in with_gradients(optimizer) if tensors.is_readable(p.grad)]
        count = sum(p.numel() for p in owners)
        whole = next((m for m, parts in self.reduced.items() if are_all(parts, count)), None)
        for parameter in owners:
            members = self.pieces.get(parameter, whole)
            before = self.by_hand.get(parameter, (members,))
            if self.recorder.step > 0 and parameter not in self.by_hand:
                before = (None,)
            self.by_hand.set(parameter, (members if before[0] == members else None,))

    def write(self, optimizer, watched, size):
        rows = {}
        for parameter in parameters_of(optimizer):
            held = tensors.local(parameter)
            if not tensors.is_readable(held) or private.is_flat_parameter(parameter):
                continue
            is_piece = tensors.is_shard(parameter)
            owner = self.copies_of(parameter) if is_piece else self.owner_of(parameter, size)
            if owner:
                number = digest([held])
                rows.setdefault(owner, []).append(
                    (watched.things.get(parameter, 0), number >> 32, number & 0xFFFFFFFF))  # fmt: skip
        for owner, found in rows.items():
            self.recorder.quantities("replica_digest", found, owner)

    def owner_of(self, parameter, size):
        holders = [wrapped for _, wrapped in self.wrapped.items() if parameter in wrapped.held]
        if holders:
            if parameter.requires_grad and all(parameter in wrapped.frozen for wrapped in holders):
                self.note(parameter, "frozen_at_wrapping")
            return self.thing(REPLICAS, holders[0].members)
        for wrapper, wrapped in self.wrapped.items():
            inside = any(parameter is held for held in walking.parameters(wrapper))
            if inside and parameter not in wrapped.known:  # and is not one that it was told to ignore
                self.note(parameter, "after_wrapping")
                return self.thing(REPLICAS, wrapped.members)
        members = self.by_hand.get(parameter, (None,))[0]
        return self.thing(REPLICAS, members) if members else self.thing(PEERS, range(size))

    def copies_of(self, parameter):
        """The thing of those that hold the same piece as this process; 0 if nobody else does."""
        members, gradient = holders(parameter), parameter.grad
        if len(members) < 2 or not tensors.local(parameter).numel():
            return 0
        if gradient is not None and not tensors.is_alike(parameter, gradient):
            self.note(parameter, "own_gradient")
        return self.thing(COPIES, members)

    def evaluated(self, model, module):
        """After the first batch of an evaluation, before which a wrapper may have sent buffers."""
        size = self.groups.size()
        if size == 1:
            return
        buffers = [(model.name(name), buffer) for name, buffer in walking.named_buffers(module)
                   if tensors.is_readable(buffer) and buffer.is_floating_point()]  # fmt: skip
        if sum(b.numel() * b.element_size() for _, b in buffers) > MOST_OFTEN_BYTES:
            return
        parameter = next(walking.parameters(module), None)
        owner, rows = self.owner_of(parameter, size), []
        for name, buffer in buffers:
            number, thing = digest([buffer]), self.recorder.thing("buffer", model.ordinal, name)
            rows.append((thing, number >> 32, number & 0xFFFFFFFF))
        self.recorder.quantities("buffer_digest", rows, owner)

    def note(self, parameter, why):
        """Its gradients are not meant to be the same on all: `why`, as an attribute of it."""
        known = self.models.parameters.get(parameter)
        if known is not None and (why, known[0]) not in self.told:
            self.told.add((why, known[0]))
            self.recorder.attribute(known[0], why, 1)


def are_all(parts, count):
    """Whether one operation was about so many elements, or all of them, with or without those of single
    numbers, as losses are."""
    return count in parts or count in (sum(parts), sum(part for part in parts if part > 1))
