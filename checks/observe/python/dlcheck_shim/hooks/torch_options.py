"""Options of torch that a program changes as it trains, and calls that it makes for every step in vain."""

import sys

import torch

from ..record.sites import OWN, kind_of
from ..source.operation_lines import site_of_call
from ..torch_api.wrapping import only_before, replace

SETTERS = {"torch.get_float32_matmul_precision()": "set_float32_matmul_precision"}  # calls that change an option
CALLER = 3  # frames: the function below, `before` of only_before, the function of torch, who called it


class TorchOptions:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.tell_cache = guard.isolated("cache", asks_tensors=False)(self.tell_cache)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.emptied, self.at_first = 0, None
        self.finds_anomalies = False  # in the first step

    def subscribe(self, moments):
        moments.first_step_ends.append(self.note)

    def watch_all(self):
        replace([torch.cuda, torch.cuda.memory], "empty_cache", only_before(self.empties))

    def empties(self, args, kwargs):
        self.emptied += 1
        if self.emptied & (self.emptied - 1) == 0:
            if kind_of(sys._getframe(CALLER).f_code.co_filename) == OWN:
                self.tell_cache()

    def tell_cache(self):
        thing = self.recorder.thing("operation", 0, "torch.cuda.empty_cache")
        self.recorder.quantity("emptied_cache", thing, float(self.emptied), float(self.recorder.step),
                               site=self.sites.current(always=True))  # fmt: skip

    def note(self):
        self.at_first, self.finds_anomalies = options(), torch.is_anomaly_enabled()

    def write(self):
        """As the run ends: source is not parsed before, since a compiled function may be at work."""
        site = site_of_call("set_detect_anomaly", self.sites) if self.finds_anomalies else 0
        if site:
            thing = self.recorder.thing("facility", 0, "anomaly detection")
            self.recorder.event("debugging", thing, site=site, at=(0, 0))
        for name, before in (self.at_first or {}).items():
            now = options().get(name)
            if now != before:
                thing = self.recorder.thing("option", 0, f"{name}: {before}, then {now}")
                site = site_of_call(SETTERS[name], self.sites) if name in SETTERS else 0
                self.recorder.quantity("changed_precision", thing, 1.0, site=site)


def options():
    """Those that decide how exactly matrices are multiplied, by name."""
    matmul = torch.backends.cuda.matmul
    return {
        "torch.get_float32_matmul_precision()": torch.get_float32_matmul_precision(),
        "allow_fp16_reduced_precision_reduction": str(matmul.allow_fp16_reduced_precision_reduction),
        "allow_bf16_reduced_precision_reduction": str(matmul.allow_bf16_reduced_precision_reduction),
    }
