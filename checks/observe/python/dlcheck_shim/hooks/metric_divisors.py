"""Tells of sums over batches that a program divides by a wrong number: the mean loss of each batch by the number of
samples, counts of samples by the number of batches, batches of unequal size that count alike, and metrics of batches
that are averaged although the metric of all samples is no mean of them.
"""

import torch

from ..source.batch_metrics import averaged_metrics
from ..source.divided import MEAN_OF_MEANS, divided_sums
from ..source.trees import MOST_FILES, looked_through, short_tree_of
from ..state.loss_calls import reduction_of
from ..torch_api import tensors
from ..torch_api.on_host import on_host

MOST_LINES, MOST_LOOKS, MOST_BATCHES = 32, 16, 256


class MetricDivisors:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        for name in ("train", "evaluate", "forward", "over"):
            setattr(self, name, guard.isolated("divisors")(getattr(self, name)))
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.lines = {"mean": {}, "sum": {}}  # by file and line of a loss: the most samples of a batch
        self.looks, self.trained = 0, set()  # file and line of all that is under way at a loss with gradients
        self.forwards = {}  # by file and line of a forward in an evaluation: the most samples of a batch
        self.sizes = {}  # the same for the evaluation under way: the sizes of its batches
        self.unequal_sizes = {}  # the same: sizes that are not all equal
        self.evaluated = set()  # file and line of losses without gradients
        self.losses = {}  # by file and line: (mean, targets) of each batch of the evaluation under way
        self.unequal = {}  # by file and line of a loss: the mean of the batch means, and the mean over all targets

    def subscribe(self, moments):
        moments.loss_compared.append(self.train)
        moments.evaluation_batch.append(self.forward)
        moments.evaluation_loss.append(self.evaluate)
        moments.evaluation_over.append(self.over)

    def train(self, call):
        if self.looks < MOST_LOOKS:
            self.looks += 1
            self.add(call)
            self.trained.update(self.sites.under_way())

    def add(self, call):
        """The line of the loss, or None."""
        place = next(iter(self.sites.under_way()), None)
        known = self.lines.get(reduction_of(call.options))
        if place is None or known is None or len(known) >= MOST_LINES and place not in known:
            return None
        rows = call.output.shape[0] if call.output.dim() > 0 else 1
        known[place] = max(known.get(place, 0), rows)
        return place

    def evaluate(self, call):
        place, result = self.add(call), call.result
        if place is not None:
            self.evaluated.add(place)
        if place is None or reduction_of(call.options) != "mean" or result.numel() != 1 or not (result := on_host(result)).is_cpu:
            return
        batches = self.losses.setdefault(place, [])
        if len(batches) < MOST_BATCHES:
            batches.append((float(result.detach()), count_of(call)))

    def forward(self, inputs):
        place = next(iter(self.sites.under_way()), None)
        batch = next((given for given in inputs if isinstance(given, torch.Tensor)), None)
        if place is not None and batch is not None and batch.dim() > 0 and len(self.forwards) < MOST_LINES:
            self.forwards[place] = max(self.forwards.get(place, 0), batch.shape[0])
            self.sizes.setdefault(place, set()).add(batch.shape[0])

    def over(self, phase):
        losses, sizes, self.losses, self.sizes = self.losses, self.sizes, {}, {}
        self.unequal_sizes.update((place, found) for place, found in sizes.items() if len(found) > 1)
        for place, batches in losses.items():
            total = sum(count for _, count in batches)
            if len({count for _, count in batches}) > 1 and total > 0 and len(batches) < MOST_BATCHES:
                means = sum(mean for mean, _ in batches) / len(batches)
                self.unequal[place] = (means, sum(mean * count for mean, count in batches) / total)

    def write(self):
        """As the run ends."""
        if self.recorder.request.experiment != "plain":
            return
        places = {*self.lines["mean"], *self.lines["sum"], *self.forwards}
        for path in sorted({file for file, _ in places})[:MOST_FILES]:
            tree = short_tree_of(path)
            means, sums, forwards = ({line for file, line in known if file == path}
                                     for known in (self.lines["mean"], self.lines["sum"], self.forwards))  # fmt: skip
            for entry in looked_through(divided_sums, tree, means, sums, forwards) if tree is not None else ():
                self.tell(path, *entry)
            evaluated, trained = ({line for file, line in known if file == path}
                                  for known in ((*self.evaluated, *self.forwards), self.trained))  # fmt: skip
            for name, kind, line, function in looked_through(averaged_metrics, tree, means, evaluated, trained) if tree is not None else ():
                self.recorder.quantity("averaged_metric", self.recorder.thing("variable", 0, name), float(kind),
                                       site=self.recorder.writer.site(path, line, function))  # fmt: skip

    def tell(self, path, name, kind, line, function, loop):
        recorder, site = self.recorder, self.recorder.writer.site(path, line, function)
        thing = recorder.thing("variable", 0, name)

        def within(known):
            return [value for (file, place), value in known.items() if file == path and loop[0] <= place <= loop[1]]

        if kind == MEAN_OF_MEANS:
            losses, sizes = within(self.unequal), within(self.unequal_sizes)
            if losses:
                recorder.quantity("mean_of_batch_means", thing, *losses[0], site=site)
            elif sizes:
                recorder.quantity("unequal_batches", thing, float(min(sizes[0])), float(max(sizes[0])), site=site)
            return
        rows = max((most for known in (*self.lines.values(), self.forwards) for most in within(known)), default=0)
        if rows > 1:
            recorder.quantity("wrong_divisor", thing, float(kind), float(rows), site=site)


def count_of(call):
    """How many targets the mean of a batch is over."""
    target = call.target
    if call.function in ("cross_entropy", "nll_loss") and not target.is_floating_point() and tensors.is_readable(target) and (target := call.host_target).is_cpu:
        with tensors.unrecorded():
            return int((target.detach() != call.options.get("ignore_index", -100)).sum())
    return call.output.shape[0] if call.output.dim() > 0 else 1
