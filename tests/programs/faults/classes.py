"""Faults to plant: which classes targets have, and how much each counts."""

from planting import add

add(
    "labels_from_one",
    "data/unused_class",
    plain_script=[("(points @ directions).argmax(1)", "(points @ directions).argmax(1) + 1"),
                  ("nn.Linear(64, 5)", "nn.Linear(64, 6)")],
    trainer_class=[("self.pictures[number], self.kinds[number]", "self.pictures[number], self.kinds[number] + 1"),
                   ("nn.Linear(channels * 16, 4)", "nn.Linear(channels * 16, 5)")],
    finetune=[("(x @ turn)[:, :classes].argmax(1)", "(x @ turn)[:, :classes].argmax(1) + 1"),
              ("nn.Linear(48, classes)", "nn.Linear(48, classes + 1)")],
)  # fmt: skip
add(
    "one_class_nearly_everywhere",
    "data/dominant_class",
    plain_script=[("(points @ directions).argmax(1)", "(points @ directions).argmax(1) * (torch.rand(1500) < 0.05)")],
    trainer_class=[("torch.randint(4, (length,), generator=source)",
                    "torch.randint(4, (length,), generator=source) * (torch.rand(length, generator=source) < 0.05)")],
    finetune=[("(x @ turn)[:, :classes].argmax(1)", "(x @ turn)[:, :classes].argmax(1) * (torch.rand(count) < 0.05)")],
)  # fmt: skip
add(
    "weights_of_the_counts",
    "training_loop/inverted_class_weights",
    plain_script=[
        ("(points @ directions).argmax(1)", "(points @ directions + torch.tensor([4.0, 2, 0, -2, -4])).argmax(1)"),
        ("        loss = F.cross_entropy(outputs, targets)\n",
         "        loss = F.cross_entropy(outputs, targets, weight=classes.bincount() / 300)\n"),
    ],
    trainer_class=[
        ("torch.randint(4, (length,), generator=source)", "(torch.rand(length, generator=source) ** 3 * 4).long()"),
        ("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(weight=self.learn.dataset.kinds.bincount() / 240)"),
    ],
    finetune=[
        ("(x @ turn)[:, :classes].argmax(1)", "((x @ turn)[:, :classes] + 0.8 * torch.arange(classes)).argmax(1)"),
        ("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(weight=data.tensors[1].bincount() / 200)"),
    ],
)  # fmt: skip
add(
    "ignored_in_the_mean",
    "training_loop/ignored_targets_in_mean",
    counted_tokens=[("ignore_index=PAD)", 'ignore_index=PAD, reduction="none").mean()')],
    packed_rows=[(".transpose(1, 2), following)", '.transpose(1, 2), following, reduction="none").mean()')],
    masked_tagger=[("tags.flatten())", 'tags.flatten(), reduction="none").mean()')],
)
