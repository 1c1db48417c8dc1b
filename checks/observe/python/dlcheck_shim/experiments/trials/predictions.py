"""What a model predicts for one batch that stays the same, as it trains: after steps 1, 2, 4, 8 and so on."""

from ...torch_api import tensors
from .bench import Bench, Randomness

MOST_MODELS = 4


class Predictions:
    def __init__(self, watch):
        self.watch, self.calls = watch, {}

    def keep(self, model, call):
        """The first call of a model that is tried."""
        if self.watch.kept.count and len(self.calls) < MOST_MODELS:
            self.calls.setdefault(model, call)

    def look(self, _):
        """As a step ends."""
        number = self.watch.recorder.step + 1
        if number & (number - 1) or not self.calls or not tensors.may_compute():
            return
        randomness = Randomness()
        for model, call in self.calls.items():
            outputs = []
            try:
                with self.watch.guard.resting():
                    bench = Bench(call.module)
                    outputs = bench.outputs((call.args, call.kwargs))
                    bench.put_back()
            except Exception:  # the model's own code, which the other trials tell of
                continue
            finally:
                randomness.restore()
            self.watch.kept.predicted(model.thing, call.tensors(), outputs)
