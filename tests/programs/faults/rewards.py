"""Faults to plant: what a policy and a schedule are told of success."""

from planting import add

add(
    "advantage_not_detached",
    "training_loop/advantage_with_gradient",
    folder="healthy",
    actor_critic=[("returns - values.detach()", "returns - values")],
)
SCHEDULE = "torch.optim.lr_scheduler.ReduceLROnPlateau({}, patience=1)\n"
add(
    "accuracy_for_a_loss",
    "schedule/plateau_in_wrong_mode",
    plain_script=[
        ("scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS * len(train_loader))\n",
         "scheduler = " + SCHEDULE.format("optimizer")),
        ("        scheduler.step()\n    accuracy = evaluate()\n", "    accuracy = evaluate()\n    scheduler.step(accuracy)\n"),
        ("lr=5e-3", "lr=4e-4"),
    ],
    framework=[
        ("torch.optim.lr_scheduler.LinearLR(learner.optimizer, 1.0, 0.1, total)\n", SCHEDULE.format("learner.optimizer")),
        ("    def after_step(self, learner):\n        self.rule.step()\n",
         "    def after_epoch(self, learner):\n        self.rule.step(learner.evaluate())\n"),
        ("rate: float = 4e-3", "rate: float = 5e-4"),
    ],
    next_symbols=[
        ("loss_of = nn.CrossEntropyLoss()\n",
         "loss_of = nn.CrossEntropyLoss()\nplan = " + SCHEDULE.format("optimizer")),
        ('    print(f"{epoch}', '    plan.step(right)\n    print(f"{epoch}'),
        ("lr=4e-3", "lr=1e-3"),
    ],
)  # fmt: skip
