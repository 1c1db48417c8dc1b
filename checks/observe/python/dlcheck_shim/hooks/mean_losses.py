"""Records what each loss function comes to as a mean over its targets where a backward starts from something else:
a sum of several terms, or gradients that are asked for without a backward.
"""

import torch

from ..autograd.loss_graph import loss_behind
from ..state.initial_loss import JUDGED_AT_START
from ..state.loss_calls import reduction_of

MOST_WAITING = 64  # of a step
WEIGHTS = ("weight", "pos_weight", "label_smoothing")  # with these it is another mean


class MeanLosses:
    def __init__(self, guard, recorder):
        self.recorder = recorder
        self.reached_by = guard.isolated("mean loss")(self.reached_by)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.waiting = []  # thing of a loss, its mean and the number of its targets

    def subscribe(self, moments):
        moments.loss_examined.append(self.add)
        moments.step_ends.append(lambda owner: self.write())

    def add(self, call):
        if call.function not in JUDGED_AT_START or len(self.waiting) == MOST_WAITING:
            return
        given = [call.options.get(name) for name in WEIGHTS]
        if any(isinstance(weight, torch.Tensor) or weight for weight in given):
            return
        found = mean_of(call)
        if found is not None:
            self.waiting.append((call.thing, *found))

    def reached_by(self, loss):
        """Before a backward from `loss`: one that starts from a lone loss function records it by itself."""
        if loss_behind(loss) is not None:
            self.waiting = []
        self.write()

    def write(self):
        waiting, self.waiting = self.waiting, []
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)
        for thing, mean, count in waiting:
            if isinstance(mean, float):
                recorder.quantity("mean_loss", thing, mean, count, at=at)
                continue
            recorder.transfer.add(
                mean, lambda values, thing=thing, count=count: recorder.quantity("mean_loss", thing, values[0], count, at=at)
            )


def mean_of(call):
    """The mean loss and the number of targets; None where it is another mean. The loss is a tensor of one number where
    to read it would stop an accelerator."""
    result, target, reduction = call.result.detach(), call.target, reduction_of(call.options)
    of_classes = call.function in ("cross_entropy", "nll_loss")
    if of_classes and target.is_floating_point() or not of_classes and target.shape != call.output.shape:
        return None
    if reduction != "mean":
        counted = (target != call.options.get("ignore_index", -100)).sum() if of_classes else target.numel()
        result = result.sum() / counted
    # Read or copied now, as the program may add to it in place.
    return result.item() if result.is_cpu else result.reshape(1).clone(), float(target.numel())
