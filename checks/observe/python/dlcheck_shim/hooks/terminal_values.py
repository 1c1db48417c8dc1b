"""Tells of targets that are the reward plus a number times the value of the next state in all rows, those included that
a tensor of the program marks as the end of an episode.

The values are what a network gave in the same step. Rewards and marks are looked for among all
tensors, which takes tens of milliseconds: a few times, and only where a target may be such a sum.
"""

import torch

from ..state.objects_alive import tensors_alive
from ..torch_api import tensors
from ..torch_api.on_host import on_host
from .loss import SAME_SHAPES

MOST_STEPS, MOST_LOOKS, CONFIRMING = 64, 6, 2  # steps and looks in all, looks that must agree
STEPS_WITHOUT_LOOK = 16  # after which a program is left alone
FEWEST_ROWS, MOST_ROWS, MOST_OUTPUTS = 8, 4096, 64  # of a target, and actions of a state
MOST_KEPT, MOST_TENSORS = 4, 16
LEAST_DISCOUNT, NEAR = 0.1, 1e-4
MOST_ZEROS = 0.1  # share, of a tensor that is subtracted from the values, as an entropy is
MARKS = (torch.bool, torch.uint8, torch.float32, torch.float64)


class TerminalValues:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.gave, self.compare = guard.isolated("terminals")(self.gave), guard.isolated("terminals")(self.compare)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.outputs, self.graded = [], 0  # copies of what networks gave in the step under way, and how many with gradients
        self.steps, self.looks, self.confirmed, self.rows, self.done = 0, 0, 0, 0, False

    def subscribe(self, moments):
        moments.stranger_gave.append(self.gave)
        moments.evaluation_gave.append(lambda model, output, beside: self.gave(output))
        moments.forward_gave.append(self.forward_gave)
        moments.loss_compared.append(self.compare)
        moments.step_ends.append(self.end_step)

    def forward_gave(self, model, output):
        """A target network may be called with gradients, and be detached."""
        if not self.done and self.recorder.sampled and self.recorder.compares() and type(output) in tensors.PLAIN:
            before = len(self.outputs)
            self.gave(output)
            self.graded += len(self.outputs) > before

    def gave(self, output):
        if self.done or not tensors.is_readable(output) or not output.is_floating_point():
            return
        if not 1 <= output.dim() <= 2 or not FEWEST_ROWS <= output.shape[0] <= MOST_ROWS or not tensors.may_compute():
            return
        width = output.numel() // output.shape[0]
        if width <= MOST_OUTPUTS and (output := on_host(output)).is_cpu:
            with tensors.unrecorded():
                self.outputs = [*self.outputs[1 - MOST_KEPT :], output.detach().reshape(-1, width).double().clone()]

    def end_step(self, owner):
        self.steps += bool(self.outputs)
        self.outputs, self.graded = [], 0
        self.done = self.done or self.steps >= MOST_STEPS or self.steps >= STEPS_WITHOUT_LOOK and not self.looks

    def compare(self, call):
        if self.done or not self.outputs or call.function not in SAME_SHAPES or not is_column(call.target):
            return
        if not call.host_target.is_cpu:
            return
        target = call.host_target.detach().reshape(-1).double()
        outputs = [output for output in self.outputs if output.shape[0] == target.numel()]
        if len(self.outputs) == self.graded < 2:
            return  # the one that the loss is given
        if not outputs or not may_be_sums(target, outputs):
            return
        self.looks += 1
        self.done = self.looks >= MOST_LOOKS
        alive = [t for t in tensors_alive() if t is not call.target and is_column(t) and t.numel() == target.numel()]
        alive = map(on_host, alive[:MOST_TENSORS])
        self.judge(call, target, outputs, [t for t in alive if t.is_cpu])

    def judge(self, call, target, outputs, alive):
        columns = [t.detach().reshape(-1).double() for t in alive]
        values = values_of(outputs) + [column for column in columns if any(is_chosen_from(output, column) for output in outputs)]
        beside = [column for column in columns if float((column == 0).double().mean()) < MOST_ZEROS]
        sums = [(rewards, discount) for rewards in columns
                for discount in discounts(target - rewards, values, [each for each in beside if each is not rewards])]  # fmt: skip
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
    if not tensors.is_readable(tensor) or tensor.requires_grad or tensor.is_complex():
        return False
    return 1 <= tensor.dim() <= 2 and FEWEST_ROWS <= tensor.shape[0] == tensor.numel() <= MOST_ROWS


def may_be_sums(target, outputs):
    """Whether the target is none of the outputs as they are, as where a teacher gives it."""
    return target.numel() >= FEWEST_ROWS and not any(output.shape[1] == 1 and torch.equal(output[:, 0], target) for output in outputs)


def is_chosen_from(output, column):
    return output.shape[1] > 1 and bool((output == column[:, None]).any(1).all())


def values_of(outputs):
    """The best value of each state, and the smaller one of two critics."""
    single = [output[:, 0] for output in outputs if output.shape[1] == 1]
    smaller = [torch.minimum(one, other) for place, one in enumerate(single) for other in single[place + 1 :]]
    return [output.amax(1) for output in outputs if output.shape[1] > 1] + single + smaller


def discounts(rest, values, beside):
    """The numbers which, times one of the values, are the rest in all rows; or with another number, times one tensor
    `beside`, added to it."""
    for value in values:
        place = value.abs().argmax()
        size = float(value[place])
        if float(value.std()) <= NEAR * abs(size):
            continue
        fits = [(float(rest[place]) / size, rest)] + [fit_of(rest, value, other) for other in beside]
        for discount, part in fits:
            if LEAST_DISCOUNT <= discount <= 1 and torch.allclose(part, discount * value, rtol=NEAR, atol=NEAR * abs(size)):
                yield discount


def fit_of(rest, value, other):
    """By least squares: the number of times that the value is in the rest, and the rest without the other tensor."""
    known = torch.stack([value, other], 1)
    products = known.T @ known
    determinant = float(products[0, 0] * products[1, 1] - products[0, 1] ** 2)
    if determinant <= NEAR * float(products[0, 0] * products[1, 1]):
        return 0.0, rest
    wanted = known.T @ rest
    discount = float(products[1, 1] * wanted[0] - products[0, 1] * wanted[1]) / determinant
    factor = float(products[0, 0] * wanted[1] - products[0, 1] * wanted[0]) / determinant
    return discount, rest - factor * other
