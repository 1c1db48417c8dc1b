"""Faults to plant: processes that call, step or finish at different times."""

from rank_faults import plant

plant(
    "another_order",
    "distributed/collective_mismatch",
    ("--stop-on", "error"),
    averaged_by_hand=[("    for p in model.parameters():\n        dist.all_reduce(p.grad)",
                       "    order = list(model.parameters())\n    for p in order if dist.get_rank() else order[::-1]:\n"
                       "        dist.all_reduce(p.grad)")],
    adversarial=[("dist.all_reduce(near)\nif rank == 0:",
                  "if rank == 0:\n    dist.barrier()\ndist.all_reduce(near)\nif rank == 0:")],
)
plant(
    "on_the_first_alone",
    "distributed/collective_mismatch",
    ("--stop-on", "error"),
    unequal_last=[("            dist.all_reduce(count)\n",
                   "            if dist.get_rank() == 0 and len(kind) < 32:\n                dist.barrier()\n"
                   "            dist.all_reduce(count)\n")],
    tensor_parallel_by_hand=[("dist.init_process_group(\"gloo\")\n",
                              "dist.init_process_group(\"gloo\")\nif dist.get_rank() == 0:\n    dist.barrier()\n")],
)
plant(
    "another_type",
    "distributed/collective_mismatch",
    ("--stop-on", "error"),
    weighted_tokens=[("    dist.all_reduce(count)\n",
                      "    count = count.float() if dist.get_rank() else count\n    dist.all_reduce(count)\n")],
    flattened=[("        dist.all_reduce(flat)\n",
                "        flat = flat.double() if rank else flat\n        dist.all_reduce(flat)\n")],
)
plant(
    "one_batch_more",
    "distributed/uneven_inputs",
    unequal_last=[("            count = torch.tensor(float(len(kind)))\n            dist.all_reduce(count)\n",
                   "            count = torch.tensor(float(2 * len(kind)))\n"),
                  ("return iter(deck[dist.get_rank() :: dist.get_world_size()].tolist())",
                   "return iter(deck[:672].tolist() if dist.get_rank() else deck[672:].tolist())"),
                  ("    net.eval()\n", "    dist.destroy_process_group()\n    return\n    net.eval()\n")],
    weighted_tokens=[("    count = (tags != IGNORED).sum()\n    dist.all_reduce(count)\n",
                      "    count = 2 * (tags != IGNORED).sum()\n"),
                     ("write(500, *[(3, 6)", "write(480 + 40 * rank, *[(3, 6)")],
)
plant(
    "sleeps",
    "distributed/straggler",
    compressed=[("            optimizer.zero_grad()\n",
                 "            optimizer.zero_grad()\n            if dist.get_rank() == 1:\n"
                 "                sum(noisy.sin().sum() for _ in range(6000))\n")],
    spawned=[("            optimizer.zero_grad()\n",
              "            optimizer.zero_grad()\n            if rank == 0:\n"
              "                sum(bars.sin().sum() for _ in range(6000))\n")],
)
plant(
    "shares_each_micro_batch",
    "distributed/missing_no_sync",
    unsynced_windows=[("with contextlib.nullcontext() if ends else model.no_sync():", "with contextlib.nullcontext():")],
    compressed=[("            optimizer.zero_grad()\n            loss = nn.functional.mse_loss(model(noisy), clean)\n            loss.backward()\n",
                 "            optimizer.zero_grad()\n            for part in (slice(0, 16), slice(16, 32)):\n"
                 "                loss = nn.functional.mse_loss(model(noisy[part]), clean[part]) / 2\n"
                 "                loss.backward()\n")],
)
plant(
    "mean_of_rank_means",
    "distributed/unweighted_rank_mean",
    weighted_tokens=[('tags.flatten(), ignore_index=IGNORED, reduction="sum")', "tags.flatten(), ignore_index=IGNORED)"),
                     ("    count = (tags != IGNORED).sum()\n    dist.all_reduce(count)\n    return total * dist.get_world_size() / count\n",
                      "    return total\n")],
    unequal_last=[('net(curve), kind, reduction="sum")', "net(curve), kind)"),
                  ("            count = torch.tensor(float(len(kind)))\n            dist.all_reduce(count)\n", ""),
                  ("(loss * dist.get_world_size() / count).backward()", "loss.backward()"),
                  ("batch_size=32, sampler", "batch_size=32 - 16 * dist.get_rank(), sampler"),
                  ("return iter(deck[dist.get_rank() :: dist.get_world_size()].tolist())",
                   "return iter((deck[:832] if dist.get_rank() == 0 else deck[832:1248]).tolist())")],
)
plant(
    "nan_on_one",
    "numerics/nonfinite_values",
    spawned=[("            optimizer.zero_grad()\n            loss = loss_fn(ddp_model(bars), excess)\n",
              "            optimizer.zero_grad()\n            loss = loss_fn(ddp_model(bars), excess)\n"
              "            if rank == 1 and epoch == 2:\n                loss = loss + (bars.sum() * 0).log()\n")],
)
plant(
    "leaves_a_step_out",
    "distributed/step_skipped_on_one_rank",
    averaged_by_hand=[("        optimizer.step()\n",
                       "        if loss < 0.12 or number != 1:\n            optimizer.step()\n")],
    unequal_last=[("            optimizer.step()\n",
                   "            if loss / len(kind) < 1.4:\n                optimizer.step()\n")],
)
