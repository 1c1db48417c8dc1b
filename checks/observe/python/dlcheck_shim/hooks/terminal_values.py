"""Tells of targets that are the reward plus a number times the value of the next state in all rows, those included that
a tensor of the program marks as the end of an episode.

The values are what a network gave without gradients in the same step. Rewards and marks are looked for among all
tensors, which takes tens of milliseconds: a few times, and only where a target may be such a sum.
"""

import torch

from ..state.objects_alive import tensors_alive
from ..torch_api import tensors
from .loss import SAME_SHAPES

MOST_STEPS, MOST_LOOKS, CONFIRMING = 64, 6, 2  # steps and looks in all, looks that must agree
FEWEST_ROWS, MOST_ROWS, MOST_OUTPUTS = 8, 4096, 64  # of a target, and actions of a state
MOST_KEPT, MOST_TENSORS = 4, 16
LEAST_DISCOUNT, NEAR = 0.1, 1e-4
MARKS = (torch.bool, torch.uint8, torch.float32, torch.float64)


class TerminalValues:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.gave, self.compare = guard.isolated("terminals")(self.gave), guard.isolated("terminals")(self.compare)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.outputs = []  # copies of what networks gave without gradients in the step under way
        self.steps, self.looks, self.confirmed, self.rows, self.done = 0, 0, 0, 0, False

    def subscribe(self, moments):
        moments.stranger_gave.append(self.gave)
        moments.evaluation_gave.append(lambda model, output, beside: self.gave(output))
        moments.loss_compared.append(self.compare)
        moments.step_ends.append(self.end_step)

    def gave(self, output):
        if self.done or not tensors.is_readable(output) or not output.is_cpu or not output.is_floating_point():
            return
        if not 1 <= output.dim() <= 2 or not FEWEST_ROWS <= output.shape[0] <= MOST_ROWS or not tensors.may_compute():
            return
        width = output.numel() // output.shape[0]
        if width <= MOST_OUTPUTS:
            with tensors.unrecorded():
                self.outputs = [*self.outputs[1 - MOST_KEPT :], output.detach().reshape(-1, width).double()]

    def end_step(self, owner):
        self.steps += bool(self.outputs)
        self.outputs = []
        self.done = self.done or self.steps >= MOST_STEPS

    def compare(self, call):
        if self.done or not self.outputs or call.function not in SAME_SHAPES or not is_column(call.target):
            return
        target = call.target.detach().reshape(-1).double()
        outputs = [output for output in self.outputs if output.shape[0] == target.numel()]
        if not outputs or not may_be_sums(target, outputs):
            return
        self.looks += 1
        self.done = self.looks >= MOST_LOOKS
        alive = [t for t in tensors_alive() if t is not call.target and is_column(t) and t.numel() == target.numel()]
        self.judge(call, target, outputs, alive[:MOST_TENSORS])

    def judge(self, call, target, outputs, alive):
        columns = [t.detach().reshape(-1).double() for t in alive]
        values = [best for output in outputs for best in ((output.amax(1),) if output.shape[1] > 1 else (output[:, 0],))]
        values += [column for column in columns if any(is_chosen_from(output, column) for output in outputs)]
        sums = [(rewards, discount) for rewards in columns for discount in discounts(target - rewards, values)]
        marks = [column for tensor, column in zip(alive, columns) if tensor.dtype in MARKS and bool(((column == 0) | (column == 1)).all())]
        marks = [column for column in marks if not any(column is rewards for rewards, _ in sums)]
        if not sums:
            return
        # Of two kinds of marks, one may be for what is rightly bootstrapped: where time ran out.
        ends = [min(int(column.sum()), int((1 - column).sum())) for column in marks]
        if ends and min(ends) > 0:
            self.confirmed, self.rows = self.confirmed + 1, self.rows + max(ends)
        if self.confirmed == CONFIRMING:
            self.done = True
            self.recorder.quantity("terminal_values", call.thing, float(self.rows), sums[0][1], site=self.sites.current())


def is_column(tensor):
    """One number for each row, which no gradient reaches."""
    if not tensors.is_readable(tensor) or tensor.requires_grad or not tensor.is_cpu or tensor.is_complex():
        return False
    return 1 <= tensor.dim() <= 2 and FEWEST_ROWS <= tensor.shape[0] == tensor.numel() <= MOST_ROWS


def may_be_sums(target, outputs):
    """Whether the target is none of the outputs as they are, as where a teacher gives it."""
    return target.numel() >= FEWEST_ROWS and not any(output.shape[1] == 1 and torch.equal(output[:, 0], target) for output in outputs)


def is_chosen_from(output, column):
    return output.shape[1] > 1 and bool((output == column[:, None]).any(1).all())


def discounts(rest, values):
    """The numbers which, times one of the values, are the rest in all rows."""
    for value in values:
        place = value.abs().argmax()
        size = float(value[place])
        discount = float(rest[place]) / size if size else 0.0
        if not LEAST_DISCOUNT <= discount <= 1 or float(value.std()) <= NEAR * abs(size):
            continue
        if torch.allclose(rest, discount * value, rtol=NEAR, atol=NEAR * abs(size)):
            yield discount
