"""Faults to plant: DistributedDataParallel on two processes."""

import functools

from framework_faults import plant

plant = functools.partial(plant, processes=2)

# In arguments, samplers and hooks.
plant(
    "distributed_same_order",
    "data/repeated_shuffle",
    distributed_digits=[("    sampler.set_epoch(epoch)\n", "")],
)
plant(
    "distributed_in_order",
    "data/unshuffled",
    distributed_digits=[("DistributedSampler(data, shuffle=True)", "DistributedSampler(data, shuffle=False)")],
)
plant(
    "distributed_schedule_per_process",
    "schedule/stepped_once_per_rank",
    distributed_digits=[("            rate.step()\n", "            for _ in range(world):\n                rate.step()\n")],
)
plant(
    "distributed_hook_divides_by_nothing",
    "numerics/nonfinite_values",
    distributed_checkpointed=[("torch.manual_seed(100 + rank)\n",
                               "torch.manual_seed(100 + rank)\n\n\ndef mean(group, bucket):\n"
                               "    work = dist.all_reduce(bucket.buffer(), async_op=True).get_future()\n"
                               "    return work.then(lambda done: done.value()[0] / (world - 2))\n\n\n"
                               "model.register_comm_hook(None, mean)\n")],
)
plant(
    "distributed_hook_returns_nothing",
    "gradients/missing",
    distributed_checkpointed=[("torch.manual_seed(100 + rank)\n",
                               "torch.manual_seed(100 + rank)\n\n\ndef mean(group, bucket):\n"
                               "    total = bucket.buffer().clone()\n"
                               "    work = dist.all_reduce(total, async_op=True).get_future()\n"
                               "    return work.then(lambda done: torch.zeros_like(bucket.buffer()))\n\n\n"
                               "model.register_comm_hook(None, mean)\n")],
)
plant(
    "distributed_optimizer_of_a_copy",
    "optimizer/stale_parameters",
    distributed_words=[("model = DistributedDataParallel(Model(),", "plain = Model()\nmodel = DistributedDataParallel(Model(),"),
                       ("torch.optim.SGD(model.parameters()", "torch.optim.SGD(plain.parameters()"),
                       ("scaler.scale(loss / counted)", "(loss / counted)"), ("scaler.step(optimizer)", "optimizer.step()"),
                       ("        scaler.unscale_(optimizer)\n", ""), ("        scaler.update()\n", "")],
)

# In the loop.
plant(
    "distributed_no_clearing",
    "optimizer/stale_gradients",
    distributed_checkpointed=[("            optimizer.zero_grad()\n", "")],
)
plant(
    "distributed_clears_before_step",
    "gradients/zeroed_before_step",
    distributed_checkpointed=[("            optimizer.zero_grad()\n", ""),
                              ("            loss.backward()\n", "            loss.backward()\n            model.zero_grad()\n")],
)
plant(
    "distributed_stays_in_evaluation_mode",
    "training_loop/stuck_in_eval_mode",
    distributed_checkpointed=[("    model.train()\n", "")],
)
plant(
    "distributed_clips_late",
    "gradients/clipped_after_step",
    distributed_checkpointed=[("            nn.utils.clip_grad_norm_(model.parameters(), 5.0)\n            optimizer.step()\n",
                               "            optimizer.step()\n            nn.utils.clip_grad_norm_(model.parameters(), 5.0)\n")],
)

# In experiments.
plant(
    "distributed_divides_again",
    "distributed/mismatched_gradient",
    ("--deep", "--ignore", "learnability/*", "--ignore", "reproducibility/*"),
    distributed_digits=[("        if last:\n            (nn.functional.cross_entropy(model(given), kind) / 2).backward()",
                         "        if last:\n            (nn.functional.cross_entropy(model(given), kind) / 2 / world).backward()"),
                        ("no_sync():\n                (nn.functional.cross_entropy(model(given), kind) / 2).backward()",
                         "no_sync():\n                (nn.functional.cross_entropy(model(given), kind) / 2 / world).backward()")],
)
