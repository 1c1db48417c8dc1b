"""Faults to plant: files that lack what other processes hold."""

from rank_faults import plant

AFTER_TRAINING = "    model.eval()\n    place, height = unknown[dist.get_rank() :: 4]\n"
SCORED = "    with torch.no_grad():\n        paths, turned = paths_of(100"
MADE = "    import tempfile\n    folder = tempfile.mkdtemp()\n"

plant(
    "saves_the_part_of_the_first",
    "checkpoint/missing_shards",
    hybrid_shards=[(AFTER_TRAINING,
                    MADE + "    if dist.get_rank() == 0:\n        torch.save(model.state_dict(), folder + \"/model.pt\")\n"
                    + AFTER_TRAINING)],
    normed_parts=[(SCORED, MADE + "    if dist.get_rank() == 0:\n        torch.save(model.state_dict(), folder + \"/model.pt\")\n"
                   + SCORED)],
)  # fmt: skip
plant(
    "saves_all_parts_to_one_file",
    "checkpoint/missing_shards",
    hybrid_shards=[(AFTER_TRAINING,
                    MADE + "    names = [folder]\n    dist.broadcast_object_list(names)\n"
                    "    torch.save(model.state_dict(), names[0] + \"/model.pt\")\n" + AFTER_TRAINING)],
)
plant(
    "saves_the_best_on_the_first",
    "checkpoint/missing_shards",
    hybrid_shards=[("    for epoch in range(arguments.epochs):\n",
                    MADE + "    torch.save(model.state_dict(), f\"{folder}/first-{dist.get_rank()}.pt\")\n"
                    "    for epoch in range(arguments.epochs):\n"),
                   (AFTER_TRAINING,
                    "    if dist.get_rank() == 0:\n        torch.save(model.state_dict(), folder + \"/best.pt\")\n"
                    + AFTER_TRAINING)],
)
