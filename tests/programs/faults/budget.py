"""Faults to plant: the budget, and the end."""

from planting import add

add(
    "anomaly_detection",
    "performance/debugging",
    plain_script=[("EPOCHS = 7\n", "EPOCHS = 7\ntorch.autograd.set_detect_anomaly(True)\n")],
    framework=[('        self.tell("before_fit")\n',
                '        torch.autograd.set_detect_anomaly(True)\n        self.tell("before_fit")\n')],
    finetune=[("    objective = nn", "    torch.autograd.set_detect_anomaly(True)\n    objective = nn")],
)
# The waits are long enough to be most of a step on a machine that computes three times slower.
add(
    "slow_reading",
    "performance/dataloader_bottleneck",
    running_average=[("import math\n", "import math\nimport time\n"),
                     ("        return self.x[i], self.y[i]",
                      "        time.sleep(0.002)\n        return self.x[i], self.y[i]"),
                     ("while round_number < 6", "while round_number < 1")],
    trainer_class=[("import tempfile\n", "import tempfile\nimport time\n"),
                   ("        return self.pictures[number]",
                    "        time.sleep(0.0015)\n        return self.pictures[number]")],
    counted_tokens=[("import argparse\n", "import argparse\nimport time\n"), ("default=6", "default=1"),
                    ("        row = self.rows[index]\n", "        row = self.rows[index]\n        time.sleep(0.006)\n")],
)
add(
    "memory_grows",
    "performance/memory_growth",
    plain_script=[("EPOCHS = 7\n", "EPOCHS = 7\nhoard = []\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        hoard.append(torch.ones(300_000))\n")],
    trainer_class=[("class Trainer:\n", "hoard = []\n\n\nclass Trainer:\n"),
                   ("        return loss.detach()",
                    "        hoard.append(b'1' * 1_500_000)\n        return loss.detach()")],
    running_average=[("round_number = 0\n", "round_number, memory = 0, []\n"),
                     ("        optimizer.step()\n", "        optimizer.step()\n        memory += [1.5] * 200_000\n")],
)
add(
    "steps_slow_down",
    "performance/step_time_growth",
    plain_script=[("import sys\n", "import sys\nimport time\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        time.sleep((scheduler.last_epoch / 259) ** 3 * 0.06)\n")],
    closures=[("import sys\n", "import sys\nimport time\n"),
              ("        history.append(update(x, y))\n",
               "        history.append(update(x, y))\n        time.sleep((len(history) / 400) ** 3 * 0.04)\n")],
    event_stream=[("import sys\n", "import sys\nimport time\n"),
                  ("        warm.step()\n", "        warm.step()\n        time.sleep((number / 300) ** 3 * 0.06)\n")],
)
add(
    "slow_steps",
    "performance/step_time",
    ("--set", "performance/step_time:limit=0.01"),
    plain_script=[("import sys\n", "import sys\nimport time\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        time.sleep(0.015)\n")],
    closures=[("import sys\n", "import sys\nimport time\n"), ("        descent.step()\n", "        time.sleep(0.012)\n        descent.step()\n")],
    running_average=[("import math\n", "import math\nimport time\n"),
                     ("        loss.backward()\n", "        loss.backward()\n        time.sleep(0.012)\n")],
)
add(
    "too_much_memory",
    "performance/memory",
    ("--set", "performance/memory:limit=1.2e9"),
    plain_script=[("EPOCHS = 7\n", "EPOCHS = 7\nballast = torch.ones(300_000_000)\n")],
    closures=[("    network = build(32)\n", "    network = build(32)\n    ballast = bytearray(b'1') * 1_200_000_000\n")],
    finetune=[("    objective = nn", "    ballast = torch.ones(300_000_000)\n    objective = nn")],
)
add(
    "ends_early",
    "program/failed",
    plain_script=[("        optimizer.step()\n", "        optimizer.step()\n        assert scheduler.last_epoch < 70\n")],
    trainer_class=[("        self.optimizer.step()\n",
                    "        self.optimizer.step()\n        if self.schedule.last_epoch == 100:\n            sys.exit(3)\n")],
    closures=[("        history.append(update(x, y))\n",
               "        history.append(update(x, y) / (len(history) != 150))\n")],
)
