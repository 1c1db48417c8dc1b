"""What an untrained model's outputs are worth: sums over outputs and targets seen before the first
step ends, in double precision, from which three losses follow.

`initial`      the mean loss as seen, without weights or smoothing, whatever the reduction;
`independent`  the loss if each target were paired with another sample's output;
`constant`     the loss of the best constant output on the same targets.

Few targets have a smaller entropy than the data that they are drawn from. So the targets of later batches are
added until there are enough, and the constant loss of all of them is told, too.
"""

import torch
import torch.nn.functional as F

# Losses that can be worked out again for another pairing of outputs and targets.
JUDGED_AT_START = ("cross_entropy", "nll_loss", "mse_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy")
MOST_SAMPLES = 4096
# A vocabulary of 50,000 would otherwise cost seconds.
MOST_ELEMENTS = 1 << 24
LEAST_PROBABILITY = 1e-12  # binary_cross_entropy bounds its logarithms, too
TOLD_AT = (32, 256)  # samples at which the constant loss of several batches is written


class InitialLoss:
    def __init__(self, kind, of_probabilities=False):
        """`of_probabilities`: of a binary loss, that its outputs are no logits."""
        self.kind, self.of_probabilities = kind, of_probabilities
        self.samples, self.width, self.sums = 0, None, None

    def add(self, output, target, options):
        """Takes one call's outputs and targets; a call of another shape or kind is left out."""
        room = MOST_SAMPLES - self.samples
        if room <= 0:
            return
        if self.kind in ("cross_entropy", "nll"):
            self.add_classes(output, target, options.get("ignore_index", -100), room)
        elif output.shape == target.shape and output.dim() > 0:
            rows = output.shape[0]
            wide = max(1, output.numel() // max(rows, 1))
            rows = min(rows, room, max(1, MOST_ELEMENTS // wide))
            output = output[:rows].double()
            if self.of_probabilities:
                output = torch.logit(output, LEAST_PROBABILITY)
            self.add_numbers(output, target[:rows].double())
            self.samples += rows

    def add_classes(self, output, target, ignored, room):
        """Shapes: output (N, C, ...) or (C), target (N, ...) or () of class numbers."""
        if target.is_floating_point():
            return
        classes = output.shape[1 if output.dim() > 1 else 0]
        if self.width not in (None, classes):
            return
        self.width = classes
        rows = output.movedim(1, -1).reshape(-1, classes) if output.dim() > 1 else output[None]
        labels = target.reshape(-1)
        room = min(room, max(1, MOST_ELEMENTS // classes))
        rows, labels = rows[: room + room], labels[: room + room]
        kept = (labels != ignored).nonzero().squeeze(1)[:room]
        labels, scores = labels[kept].long(), rows[kept].double()
        if self.kind == "cross_entropy":
            whole = torch.logsumexp(scores, 1)
        else:
            whole = torch.zeros(len(labels), dtype=torch.float64, device=scores.device)
        chosen = scores.gather(1, labels[:, None]).squeeze(1)
        counts = torch.zeros(classes, dtype=torch.float64, device=scores.device)
        counts.index_add_(0, labels, torch.ones_like(whole))
        self.keep((whole - chosen).sum(), whole.sum(), counts, scores.sum(0))
        self.samples += len(labels)

    def add_numbers(self, z, y):
        if self.kind == "mse":
            self.keep(((z - y) ** 2).sum(), z.sum(), (z * z).sum(), y.sum(), (y * y).sum(),
                      torch.tensor(float(z.numel()), dtype=torch.float64))  # fmt: skip
        else:
            soft = F.softplus(z)
            self.keep((soft - z * y).sum(), soft.sum(), z.sum(), y.sum(),
                      torch.tensor(float(z.numel()), dtype=torch.float64))  # fmt: skip

    def keep(self, *parts):
        self.sums = list(parts) if self.sums is None else [
            a + b for a, b in zip(self.sums, parts)
        ]  # fmt: skip

    def result(self):
        """[(quantity, value, aux)], or None when nothing fitting was seen."""
        if self.samples == 0 or self.sums is None:
            return None
        form = {"mse": self.of_mse, "bce": self.of_bce}.get(self.kind, self.of_classes)
        initial, independent, constant, aux = form(*(s.cpu() for s in self.sums))
        return [
            ("initial_loss", float(initial), float(self.samples)),
            ("independent_loss", float(independent), float(self.samples)),
            ("constant_loss", float(constant), float(aux)),
        ]

    def grow(self, output, target, options):
        """Adds a later batch. Gives (quantity, value, aux) where there are enough samples to tell anew."""
        before = self.samples
        self.add(output, target, options)
        if not any(before < count <= self.samples for count in TOLD_AT):
            return None
        constant = self.result()[2][1]
        return "pooled_constant_loss", constant, float(self.samples)

    @property
    def is_whole(self):
        return self.samples >= TOLD_AT[-1]

    def of_classes(self, losses, whole, counts, scores):
        n = self.samples
        frequencies = counts / n
        seen = frequencies > 0
        paired = (frequencies[seen] * scores[seen] / n).sum()
        entropy = -(frequencies[seen] * frequencies[seen].log()).sum()
        return losses / n, whole / n - paired, entropy, self.width

    def of_mse(self, losses, z, zz, y, yy, n):
        z, zz, y, yy = z / n, zz / n, y / n, yy / n
        variance_z, variance_y = zz - z * z, yy - y * y
        return losses / n, variance_z + variance_y + (z - y) ** 2, variance_y, 0

    def of_bce(self, losses, soft, z, y, n):
        p = y / n
        entropy = -(torch.xlogy(p, p) + torch.xlogy(1 - p, 1 - p))
        return losses / n, soft / n - z / n * p, entropy, 2
