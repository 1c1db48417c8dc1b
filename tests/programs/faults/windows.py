"""Faults to plant: windows of micro-batches."""

from planting import add

add(
    "cleared_in_window",
    "gradients/zeroed_during_accumulation",
    counted_tokens=[("            logits = tagger(rows)\n",
                     "            optimizer.zero_grad()\n            logits = tagger(rows)\n")],
    bf16_main=[("            (loss / window).backward()\n",
                "            solver.zero_grad()\n            (loss / window).backward()\n")],
    event_stream=[("                logits = net(xs)\n", "                net.zero_grad()\n                logits = net(xs)\n")],
)
add(
    "clipped_in_window",
    "gradients/clipped_during_accumulation",
    counted_tokens=[("            (loss * share).backward()\n        nn.utils",
                     "            (loss * share).backward()\n            nn.utils")],
    bf16_main=[
        ("                nn.utils.clip_grad_norm_(network.parameters(), 1.0)\n", ""),
        ("            (loss / window).backward()\n",
         "            (loss / window).backward()\n"
         "            nn.utils.clip_grad_norm_(network.parameters(), 1.0)\n"),
    ],
    plain_script=[(
        "        outputs = model(inputs)\n        loss = F.cross_entropy(outputs, targets)\n"
        "        loss.backward()\n        nn.utils.clip",
        "        for part, wanted in zip(inputs.chunk(2), targets.chunk(2)):\n"
        "            loss = F.cross_entropy(model(part), wanted) / 2\n            loss.backward()\n"
        "            nn.utils.clip")],
)
add(
    "divided_twice",
    "training_loop/doubly_divided_loss",
    counted_tokens=[("(loss * share).backward()", "(loss * share / len(window)).backward()")],
    bf16_main=[("(loss / window).backward()", "(loss / window / window).backward()")],
    event_stream=[("F.cross_entropy(logits, ys) / 3", "F.cross_entropy(logits, ys) / 3 / 3")],
)
add(
    "not_divided",
    "training_loop/unscaled_accumulation",
    counted_tokens=[("(loss * share).backward()", "loss.backward()")],
    bf16_main=[("(loss / window).backward()", "loss.backward()")],
    event_stream=[("F.cross_entropy(logits, ys) / 3", "F.cross_entropy(logits, ys)")],
)
add(
    "ragged_tail",
    "training_loop/short_accumulation_window",
    bf16_main=[("(loss / window)", "(loss / options.accumulation)")],
    plain_script=[
        ("T_max=EPOCHS * len(train_loader)", "T_max=EPOCHS * 10"),
        ("    for inputs, targets in train_loader:\n        optimizer.zero_grad()\n",
         "    for number, (inputs, targets) in enumerate(train_loader, 1):\n"),
        ("        loss.backward()\n",
         "        (loss / 4).backward()\n        if number % 4 and number < len(train_loader):\n"
         "            continue\n"),
        ("        optimizer.step()\n", "        optimizer.step()\n        optimizer.zero_grad()\n"),
    ],
    finetune=[
        ("        for x, y in loader:\n            optimizer.zero_grad()\n",
         "        for place, (x, y) in enumerate(loader):\n"),
        ("            loss.backward()\n            optimizer.step()\n",
         "            (loss / 6).backward()\n            if place % 6 == 5 or place == len(loader) - 1:\n"
         "                optimizer.step()\n                optimizer.zero_grad()\n"),
        ("epochs=6, freeze_at=2", "epochs=12, freeze_at=8"),
    ],
)
add(
    "mean_of_means",
    "training_loop/unweighted_accumulation",
    counted_tokens=[("share = (tags != PAD).sum() / counted", "share = 1 / len(window)")],
    event_stream=[("zip(points.chunk(3), radius.chunk(3))",
                   "zip(points.split([40, 15, 5]), radius.split([40, 15, 5]))")],
    bf16_main=[("            start = index",
                "            inputs, labels = inputs[: 2 + index % 7], labels[: 2 + index % 7]\n"
                "            start = index")],
)
