"""Looks at the targets of loss functions that take some numbers only: signs, counts, probabilities, and
symbols without the blank.
"""

import inspect

import torch

from ..torch_api import tensors
from ..torch_api.capabilities import is_compiling, tracing_state
from ..torch_api.on_host import on_host
from ..torch_api.wrapping import followed_by, replace

SIGNS, COUNTS, SYMBOLS, PROBABILITIES = "-1 and 1", "no negative numbers", "no blank", "probabilities"
TAKES = {
    "margin_ranking_loss": SIGNS,
    "hinge_embedding_loss": SIGNS,
    "cosine_embedding_loss": SIGNS,
    "soft_margin_loss": SIGNS,
    "poisson_nll_loss": COUNTS,
    "ctc_loss": SYMBOLS,
    "kl_div": PROBABILITIES,
}
ORDER = {name: tuple(inspect.signature(getattr(torch.nn.functional, name)).parameters) for name in TAKES}
MOST_ENTRIES = 1 << 16


class LossTargets:
    def __init__(self, guard, recorder, sites):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.told = set()  # functions
        recorder.moments.begins_anew.append(self.told.clear)

    def watch_all(self):
        for function in TAKES:
            replace([torch.nn.functional], function, followed_by(self.guard.isolated("targets")(self.looking_at(function))))

    def looking_at(self, function):
        def look(result, args, kwargs):
            if not self.recorder.sampled or is_compiling() or tracing_state() or function in self.told:
                return
            if tensors.is_plain(result) and result.requires_grad and tensors.may_compute():
                self.look(function, dict(zip(ORDER[function], args)) | kwargs)

        return look

    def look(self, function, options):
        target = on_host(options.get("target", options.get("targets")))
        if not tensors.is_readable(target) or not target.is_cpu or not 0 < target.numel() <= MOST_ENTRIES:
            return
        with tensors.unrecorded():
            wrong = wrong_targets(TAKES[function], target.detach(), options)
        if wrong is not None and bool(wrong.any()):
            self.told.add(function)
            thing = self.recorder.thing("loss", 0, function)
            self.recorder.quantity("wrong_targets", thing, float(wrong.double().mean()), float(wrong.numel()),
                                   self.sites.current())  # fmt: skip


def wrong_targets(takes, target, options):
    """Which targets are none that the function takes; None where that is not known."""
    if takes == SIGNS:  # beside -1, a 0 is a tie, as sign() gives it
        return None if bool((target == -1).any()) else target != 1
    if takes == PROBABILITIES and options.get("log_target"):
        return None
    if takes in (COUNTS, PROBABILITIES):
        return target < 0
    blank, lengths = options.get("blank", 0), options.get("target_lengths")
    if target.dim() == 2:
        lengths = on_host(torch.as_tensor(lengths))
        if not lengths.is_cpu or lengths.shape != target.shape[:1]:
            return None
        target = target[torch.arange(target.shape[1]) < lengths[:, None]]
    return target == blank if target.numel() else None
