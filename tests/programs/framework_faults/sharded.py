"""Faults to plant: fully_shard on two processes."""

import functools

from framework_faults import plant

plant = functools.partial(plant, processes=2)

# In arguments, in what is built before it is sharded, and in samplers.
plant(
    "sharded_optimizer_built_before",
    "optimizer/stale_parameters",
    sharded_curves=[("mesh = dist", "optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)\nmesh = dist"),
                    ("fully_shard(model, mesh=mesh)\noptimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)\n",
                     "fully_shard(model, mesh=mesh)\n")],
)
plant(
    "sharded_weights_in_bf16",
    "precision/lost_updates",
    sharded_mixed=[("model = Tagger()\n", "model = Tagger().to(torch.bfloat16)\n"), ("lr=6e-3", "lr=2e-5")],
)
plant(
    "sharded_same_order",
    "data/repeated_shuffle",
    sharded_curves=[("batch_size=60, shuffle=True)",
                     "batch_size=60, sampler=torch.utils.data.SubsetRandomSampler(\n"
                     "    list(range(1800)), generator=torch.Generator()))"),
                    ("    for given, wanted in loader:", "    loader.sampler.generator.manual_seed(0)\n    for given, wanted in loader:")],
)
plant(
    "sharded_in_order",
    "data/unshuffled",
    sharded_curves=[("batch_size=60, shuffle=True)", "batch_size=60, shuffle=False)")],
)
plant(
    "sharded_schedule_for_micro_batches",
    "schedule/wrong_total_steps",
    sharded_mixed=[("epochs * -(-len(loader) // window),", "epochs * len(loader),")],
)
plant(
    "sharded_schedule_per_process",
    "schedule/stepped_once_per_rank",
    sharded_mixed=[("        rate.step()\n", "        [rate.step() for _ in range(dist.get_world_size())]\n")],
)

# In the loop and the model.
plant(
    "sharded_no_clearing",
    "optimizer/stale_gradients",
    sharded_curves=[("        optimizer.zero_grad()\n", "")],
)
plant(
    "sharded_clips_late",
    "gradients/clipped_after_step",
    sharded_curves=[("        nn.utils.clip_grad_norm_(model.parameters(), 10.0)\n        optimizer.step()\n",
                     "        optimizer.step()\n        nn.utils.clip_grad_norm_(model.parameters(), 10.0)\n")],
)
plant(
    "sharded_clears_before_step",
    "gradients/zeroed_before_step",
    sharded_curves=[("        optimizer.zero_grad()\n", ""),
                    ("        optimizer.step()\n", "        optimizer.zero_grad()\n        optimizer.step()\n")],
)
plant(
    "sharded_detached",
    "gradients/missing",
    sharded_curves=[("        return x + self.second(", "        x = x.detach()\n        return x + self.second(")],
)
plant(
    "sharded_softmax",
    "model/double_softmax",
    sharded_mixed=[("return self.said(x)", "return self.said(x).softmax(-1)")],
)
