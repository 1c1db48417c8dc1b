"""Tells of targets that are the reward alone where an episode of gymnasium was only stopped by its time limit, as if it
had ended there: the value of the next state is missing.

What states an episode was stopped in is known from the wrapper that stops it. They are looked for in
all tensors, which takes tens of milliseconds: a few times, where a loss has one number for each row.
"""

import torch

from ..state.objects_alive import tensors_alive
from ..torch_api import tensors
from ..torch_api.on_host import on_host
from ..torch_api.wrapping import followed_by, replace
from .loss import SAME_SHAPES
from .metrics import number_of
from .terminal_values import is_column

MOST_STOPS, MOST_SIZE = 4096, 1024  # states of stopped episodes that are kept, and numbers of one
MOST_LOOKS, FEWEST_ROWS = 24, 2  # looks, and rows that must agree: one in hundreds is stopped, and each says it exactly
NEAR = 1e-5  # of the reward


class TimeLimits:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.stepped = guard.isolated("time_limits", anywhere=True)(self.stepped)
        self.compare = guard.isolated("time_limits")(self.compare)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.stops = {}  # by the bytes of a state, as numbers of 32 bits: the reward of the step into it
        self.looks, self.alone = 0, 0

    def subscribe(self, moments):
        moments.loss_examined.append(self.compare)

    def watch(self, module):
        """`module`: gymnasium.wrappers.common."""
        replace([getattr(module, "TimeLimit", None)], "step", followed_by(self.stepped))

    def stepped(self, result, args, kwargs):
        if type(result) is not tuple or len(result) != 5 or len(self.stops) >= MOST_STOPS:
            return
        state, reward, terminated, truncated = result[:4]
        number = number_of(reward)
        if truth_of(truncated) is True and truth_of(terminated) is False and number is not None:
            key = bytes_of(state)
            if key:
                self.stops[key] = number

    def compare(self, call):
        if not self.stops or self.looks >= MOST_LOOKS or call.function not in SAME_SHAPES or not is_column(call.target):
            return
        self.looks += 1
        targets, sizes = call.target.detach().flatten().tolist(), {len(state) // 4 for state in self.stops}
        alone = 0
        for states in tensors_alive():
            if not is_of_states(states, len(targets), sizes):
                continue
            rewards = [self.stops.get(row) for row in rows_of(states)]
            found = [(target, reward) for target, reward in zip(targets, rewards) if reward is not None]
            if any(abs(target - reward) > NEAR * (1 + abs(reward)) for target, reward in found):
                self.looks = MOST_LOOKS  # the value of the next state is there, as it should be
                return
            alone = max(alone, len(found))
        self.alone += alone
        if self.alone >= FEWEST_ROWS:
            self.looks = MOST_LOOKS
            self.recorder.quantity("time_limit_as_end", call.thing, float(self.alone), float(len(self.stops)), self.sites.current())


def truth_of(flag):
    """Of Python's or numpy's own; None of whatever else the environment made, whose code would run."""
    return bool(flag) if type(flag) is bool or type(flag).__module__ == "numpy" and getattr(flag, "ndim", 1) == 0 else None


def bytes_of(state):
    """Of an array of numpy or a tensor, as numbers of 32 bits; nothing of any other state."""
    if type(state).__module__ == "numpy" and type(state).__name__ == "ndarray":
        return state.astype("float32").tobytes() if state.dtype.kind in "fiu" and state.size <= MOST_SIZE else b""
    if not tensors.is_readable(state) or state.is_complex() or not 0 < state.numel() <= MOST_SIZE or not (state := on_host(state)).is_cpu:
        return b""
    return rows_of(state.reshape(1, -1))[0]


def is_of_states(tensor, rows, sizes):
    return (tensors.is_readable(tensor) and tensor.is_cpu and not tensor.requires_grad and tensor.is_floating_point()
            and tensor.dim() >= 2 and tensor.shape[0] == rows and tensor.numel() // rows in sizes)  # fmt: skip


def rows_of(states):
    with tensors.unrecorded():
        numbers = states.detach().float().contiguous().reshape(states.shape[0], -1)
        return [bytes(row) for row in numbers.view(torch.uint8).tolist()]
