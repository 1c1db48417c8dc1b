"""Faults to plant: what the curve of the loss and the times of steps show."""

from planting import add

add(
    "rate_grows_each_step",
    "training_loop/diverging_loss",
    next_symbols=[("        optimizer.step()\n", "        optimizer.step()\n        optimizer.param_groups[0][\"lr\"] *= 1.03\n")],
    masked_tagger=[("    optimizer.step()\n", "    optimizer.step()\n    optimizer.param_groups[0][\"lr\"] *= 1.01\n")],
)
add(
    "rate_of_nearly_nothing",
    "training_loop/flat_loss",
    windowed_signal=[("lr=2e-3)", "lr=1e-7)"), ("islice(stream, 500)", "islice(stream, 800)")],
    next_symbols=[("lr=4e-3)", "lr=1e-7)"), ("range(8)", "range(14)")],
    masked_tagger=[("lr=3e-3)", "lr=3e-9)"), ("range(400)", "range(800)")],
)
add(
    "steps_that_overshoot",
    "training_loop/oscillating_loss",
    running_average=[("batch_size=25", "batch_size=1200"), ("round_number < 6", "round_number < 300"),
                     ("torch.optim.Adam(live.parameters(), lr=3e-3)", "torch.optim.SGD(live.parameters(), lr=RATE)"),
                     ("    decay.step()\n", ""), ("decay = ", "decay = None  # "),
                     ("optimizer = ", "RATE = 0.18\noptimizer = ")],
)  # fmt: skip
add(
    "pause_in_some_steps",
    "performance/step_stalls",
    windowed_signal=[("    rule.step()\n", "    rule.step()\n    if number % 5 == 0:\n        __import__(\"time\").sleep(0.03)\n")],
    next_symbols=[("        optimizer.step()\n", "        optimizer.step()\n        if torch.rand(1) < 0.2:\n            __import__(\"time\").sleep(0.1)\n")],
    masked_tagger=[("    optimizer.step()\n", "    optimizer.step()\n    if step % 5 == 0:\n        __import__(\"time\").sleep(0.03)\n")],
)  # fmt: skip
add(
    "easy_samples_evaluated",
    "evaluation/better_than_training",
    plain_script=[("test_set = TensorDataset(points[1200:], classes[1200:])",
                   "margins = (points[1200:] @ directions).topk(2, 1).values.diff(dim=1)[:, 0]\n"
                   "easy = 1200 + margins.argsort()[:100]\ntest_set = TensorDataset(points[easy], classes[easy])")],
)  # fmt: skip
add(
    "training_targets_with_noise",
    "evaluation/better_than_training",
    running_average=[("        noise = 0.05", "        noise = (0.7 if first == 0 else 0.05)")],
)
add(
    "schedule_of_a_third_of_the_run",
    "schedule/decays_too_early",
    next_symbols=[("loss_of = ", "decay = torch.optim.lr_scheduler.PolynomialLR(optimizer, 160)\nloss_of = "),
                  ("        optimizer.step()\n", "        optimizer.step()\n        decay.step()\n")],
    masked_tagger=[("held = make(", "decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.96)\nheld = make("),
                   ("    optimizer.step()\n", "    optimizer.step()\n    decay.step()\n")],
)  # fmt: skip
add(
    "steps_that_no_longer_learn",
    "training_loop/plateaued_loss",
    masked_tagger=[("held = make(", "decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.98)\nheld = make("),
                   ("    optimizer.step()\n", "    optimizer.step()\n    decay.step()\n"), ("range(400)", "range(1400)")],
    next_symbols=[("loss_of = ", "decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.98)\nloss_of = "),
                  ("        optimizer.step()\n", "        optimizer.step()\n        decay.step()\n"), ("range(8)", "range(24)")],
)  # fmt: skip
add(
    "easiest_negatives",
    "training_loop/zero_loss",
    folder="healthy",
    hardest_triplets=[("distance.masked_fill(same, float(\"inf\")).amin(1)", "distance.masked_fill(same, 0).amax(1)"),
                      ("nn.functional.softplus(farthest - nearest)", "nn.functional.relu(farthest - nearest + 0.2)")],
    named_modes=[("relu(1 - d(x, c)).mean() + relu(1 + d(fake, c)).mean()", "relu(-99 - d(x, c)).mean() + relu(-99 + d(fake, c)).mean()")],
)  # fmt: skip
