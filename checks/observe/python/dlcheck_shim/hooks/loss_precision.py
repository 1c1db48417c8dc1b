"""Tells of losses that are worked out in half precision, whose sums of exponentials keep two or three digits."""

import torch

from ..torch_api import tensors

BITS = {torch.float16: 11, torch.bfloat16: 8}  # of the significand


class LossPrecision:
    def __init__(self, recorder):
        self.recorder = recorder
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.told = set()

    def subscribe(self, moments):
        moments.loss_compared.append(self.look)

    def look(self, call):
        """Autocast gives these functions float32, whatever it was given."""
        kind = call.result.dtype
        if kind in tensors.HALF and call.output.dtype == kind and (call.thing, kind) not in self.told:
            self.told.add((call.thing, kind))
            self.recorder.quantity("loss_precision", call.thing, float(BITS[kind]))
