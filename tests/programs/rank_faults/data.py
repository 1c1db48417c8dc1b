"""Faults to plant: what processes train on and evaluate with, and the numbers they draw."""

from rank_faults import plant

plant(
    "no_sampler",
    "distributed/same_data",
    synced_norm=[("DataLoader(train, batch_size=40, sampler=sampler)", "DataLoader(train, batch_size=40)")],
    zero_redundancy=[("DataLoader(train, batch_size=32, sampler=sampler)",
                      "DataLoader(train, 32, shuffle=True, generator=torch.Generator().manual_seed(seed))")],
    compressed=[("    sampler = DistributedSampler(data, shuffle=True, seed=seed)\n",
                 "    sampler = DistributedSampler(data, 2, 0, shuffle=True, seed=seed)\n")],
)
plant(
    "same_stream",
    "distributed/same_data",
    averaged_by_hand=[("Pendulums(seed * 10 + rank, 1280)", "Pendulums(seed * 10, 1280)")],
    flattened=[("[rank::world]", "[::world]")],
)
plant(
    "shards_overlap",
    "distributed/overlapping_data",
    flattened=[("mine = torch.randperm(1200, generator=shuffling)[rank::world]",
                "mine = torch.randperm(1200, generator=shuffling)[500 * rank :][:600]")],
    unequal_last=[("deck[dist.get_rank() :: dist.get_world_size()]",
                   "deck[dist.get_rank() * 550 :][: len(self)]")],
)
plant(
    "each_takes_all",
    "distributed/overlapping_data",
    compressed=[("DataLoader(data, batch_size=32, sampler=sampler)", "DataLoader(data, batch_size=32, shuffle=True)")],
    unsynced_windows=[("DataLoader(train, batch_size=10, sampler=sampler)", "DataLoader(train, batch_size=10, shuffle=True)")],
)
plant(
    "seeded_alike",
    "distributed/identical_dropout_masks",
    synced_norm=[("seed + 1000 * (1 + dist.get_rank())", "seed + 1000")],
    unsynced_windows=[("7000 + 10 * seed + dist.get_rank()", "7000 + 10 * seed")],
)
plant(
    "statistics_of_their_own",
    "distributed/different_buffers",
    synced_norm=[("nn.Linear(16 * 9, 4)))  # fmt", "nn.Linear(16 * 9, 4)), broadcast_buffers=False)  # fmt"),
                 ("        scheduler.step()\n",
                  "        scheduler.step()\n        net.eval()\n        with torch.no_grad():\n"
                  "            net(test.tensors[0])\n")],
    evaluator=[("DistributedDataParallel(model, process_group=group)",
                "DistributedDataParallel(model, process_group=group, broadcast_buffers=False)"),
               ("        hand_over(model.module)\n",
                "        model.eval()\n        with torch.no_grad():\n            model(data.tensors[0][:200])\n"
                "        hand_over(model.module)\n")],
)
plant(
    "validation_padded",
    "distributed/duplicated_eval_samples",
    zero_redundancy=[("batches = DataLoader(valid, batch_size=80)",
                      "batches = DataLoader(valid, batch_size=40, sampler=DistributedSampler(valid, shuffle=False))"),
                     ("Sentences(320, 2 * seed + 1)", "Sentences(321, 2 * seed + 1)"),
                     ("    assert right / len(valid) > 0.85, right / len(valid)\n", "")],
    frozen_parts=[("    second.eval()\n    with torch.no_grad():\n        right = (second(unseen).argmax(1) == named).float().mean().item()\n",
                   "    second.eval()\n    unseen, named = unseen[:45], named[:45]\n"
                   "    part = DistributedSampler(TensorDataset(unseen, named), shuffle=False)\n"
                   "    with torch.no_grad():\n"
                   "        hits = [second(x).argmax(1) == y for x, y in DataLoader(TensorDataset(unseen, named), 5, sampler=part)]\n"
                   "    right = torch.cat(hits).float().mean().item()\n"),
                  ("        assert right > 0.85, right\n", "")],
)
