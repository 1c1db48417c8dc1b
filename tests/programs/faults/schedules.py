"""Faults to plant: schedules."""

from planting import add

add(
    "moved_before_step",
    "schedule/stepped_before_optimizer",
    plain_script=[("        optimizer.step()\n        scheduler.step()\n",
                   "        scheduler.step()\n        optimizer.step()\n")],
    trainer_class=[("        self.optimizer.step()\n        self.schedule.step()\n",
                    "        self.schedule.step()\n        self.optimizer.step()\n")],
    event_stream=[("        warm.step()\n", ""),
                  ("        scaler.step(adam)\n", "        warm.step()\n        scaler.step(adam)\n")],
)
add(
    "rate_dies",
    "schedule/lr_is_zero",
    plain_script=[("CosineAnnealingLR(optimizer, T_max=EPOCHS * len(train_loader))",
                   "LambdaLR(optimizer, lambda step: max(0.0, 1 - step / 60))")],
    running_average=[("ExponentialLR(optimizer, 0.8)", "ExponentialLR(optimizer, 0.0)")],
    bf16_main=[("milestones=[3], gamma=0.3", "milestones=[2], gamma=0.0")],
)
add(
    "moved_for_each_process",
    "schedule/stepped_once_per_rank",
    processes=2,
    plain_script=[("        scheduler.step()\n",
                   "        for _ in range(int(os.environ['WORLD_SIZE'])):\n            scheduler.step()\n")],
    framework=[("        self.rule.step()\n",
                "        for _ in range(torch.distributed.get_world_size()):\n            self.rule.step()\n"),
               ("    config = Config(", "    torch.distributed.init_process_group('gloo')\n    config = Config(")],
    event_stream=[("import sys\n", "import os\nimport sys\n"),
                  ("        warm.step()\n", "        [warm.step() for _ in range(int(os.environ['WORLD_SIZE']))]\n")],
)
add(
    "schedule_forgotten",
    "schedule/never_stepped",
    plain_script=[("        scheduler.step()\n", "")],
    running_average=[("    decay.step()\n", "")],
    bf16_main=[("        milestones.step()\n", "")],
    workers_and_contexts=[("                plan.step()\n", "")],
)
add(
    "schedule_of_another",
    "schedule/other_optimizer",
    plain_script=[("CosineAnnealingLR(optimizer,", "CosineAnnealingLR(torch.optim.SGD(model.parameters(), lr=0.1),")],
    framework=[("LinearLR(learner.optimizer,", "LinearLR(torch.optim.Adam(learner.model.parameters(), lr=0.1),")],
    event_stream=[("LinearLR(adam,", "LinearLR(torch.optim.AdamW(net.parameters(), lr=2e-3),")],
)
add(
    "made_for_steps",
    "schedule/wrong_total_steps",
    plain_script=[("        scheduler.step()\n    accuracy", "    scheduler.step()\n    accuracy")],
    framework=[("    def after_step(self, learner):\n        self.rule",
                "    def after_epoch(self, learner):\n        self.rule")],
    bf16_main=[("MultiStepLR(solver, milestones=[3], gamma=0.3)",
                "CosineAnnealingLR(solver, options.epochs * 1560 // 8)"),
               ("        milestones.step()\n", ""),
               ("                solver.step()\n", "                solver.step()\n                milestones.step()\n")],
)
add(
    "rate_nobody_reads",
    "schedule/lr_attribute_ignored",
    plain_script=[("    accuracy = evaluate()\n", "    accuracy = evaluate()\n    optimizer.lr = 1e-3 / (epoch + 1)\n")],
    closures=[("    update = make_update(", "    descent.lr = 0.02\n    update = make_update(")],
    running_average=[("    decay.step()\n", "    optimizer.lr = 3e-3 * 0.8 ** round_number\n")],
)
add(
    "warmup_on_top",
    "schedule/overwritten_schedule",
    plain_script=[("def evaluate():\n",
                   "warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))\n\n\n"
                   "def evaluate():\n"),
                  ("        scheduler.step()\n", "        scheduler.step()\n        warmup.step()\n")],
    framework=[("        self.rule = torch", "        self.fall = torch.optim.lr_scheduler.ExponentialLR(learner.optimizer, 0.99)\n"
                "        self.rule = torch"),
               ("LinearLR(learner.optimizer, 1.0, 0.1, total)",
                "LambdaLR(learner.optimizer, lambda step: max(0.1, 1 - step / total))"),
               ("        self.rule.step()\n", "        self.rule.step()\n        self.fall.step()\n")],
    event_stream=[("        warm.step()\n", "        warm.step()\n        rise.step()\n"),
                  ("    scaler = torch.amp", "    rise = torch.optim.lr_scheduler.CyclicLR(adam, 1e-3, 2e-3, 40, cycle_momentum=False)\n"
                   "    scaler = torch.amp")],
)
