"""Faults to plant: processes whose models come apart."""

from rank_faults import plant

plant(
    "calls_the_inner_module",
    "distributed/unsynchronized_gradients",
    zero_redundancy=[("loss = nn.functional.cross_entropy(model(words), topics)",
                      "loss = nn.functional.cross_entropy(model.module(words), topics)")],
    spawned=[("loss = loss_fn(ddp_model(bars), excess)\n            loss.backward()",
              "loss = loss_fn(ddp_model.module(bars), excess)\n            loss.backward()")],
    synced_norm=[("loss = criterion(net(images), kinds)", "loss = criterion(net.module(images), kinds)")],
)
plant(
    "never_leaves_no_sync",
    "distributed/unsynchronized_gradients",
    unsynced_windows=[("with contextlib.nullcontext() if ends else model.no_sync():", "with model.no_sync():")],
    frozen_parts=[("            loss = nn.functional.cross_entropy(model(pictures), kinds)\n"
                   "            optimizer.zero_grad()\n            loss.backward()\n",
                   "            optimizer.zero_grad()\n            with model.no_sync():\n"
                   "                loss = nn.functional.cross_entropy(model(pictures), kinds)\n"
                   "                loss.backward()\n")],
)
plant(
    "no_sync_of_the_last",
    "distributed/unsynchronized_gradients",
    unsynced_windows=[("nullcontext() if ends else", "nullcontext() if place == 0 else")],
)
plant(
    "head_replaced_after_wrapping",
    "distributed/unsynchronized_gradients",
    unsynced_windows=[("DistributedDataParallel(Judge())", "DistributedDataParallel(Judge(), find_unused_parameters=True)"),
                      ("torch.manual_seed(7000 ", "model.module.verdict = torch.nn.Linear(24, 1)\ntorch.manual_seed(7000 ")],
    weighted_tokens=[("DistributedDataParallel(Tagger())", "DistributedDataParallel(Tagger(), find_unused_parameters=True)"),
                     ("    torch.manual_seed(1000 +", "    tagger.module.tag[3] = nn.Linear(48, TAGS)\n    torch.manual_seed(1000 +")],
    compressed=[("DistributedDataParallel(Autoencoder())", "DistributedDataParallel(Autoencoder(), find_unused_parameters=True)"),
                ("    model.register_comm_hook(state=None, hook=default_hooks.bf16_compress_hook)\n",
                 "    model.module.decoder[2] = nn.Linear(64, 48)\n")],
)
plant(
    "adds_to_gradients_on_one",
    "distributed/unsynchronized_gradients",
    unequal_last=[("            optimizer.step()\n",
                   "            if dist.get_rank() == 1:\n                nn.utils.clip_grad_norm_(net.parameters(), 0.01)\n"
                   "            optimizer.step()\n")],
    spawned=[("            loss.backward()\n",
              "            loss.backward()\n            if rank == 0:\n"
              "                nn.utils.clip_grad_norm_(ddp_model.parameters(), 0.01)\n")],
    gathered_contrast=[("    optimizer.step()\n",
                        "    if dist.get_rank() == 0:\n        for p in model.parameters():\n"
                        "            p.grad *= 1 + 0.1 * p.grad.norm()\n    optimizer.step()\n")],
)
plant(
    "averages_all_but_one",
    "distributed/replica_divergence",
    averaged_by_hand=[("    for p in model.parameters():\n        dist.all_reduce(p.grad)",
                       "    for p in model.parameters():\n        if dist.get_rank() == 1:\n            p.grad += 1e-6 * p.detach()\n"
                       "        dist.all_reduce(p.grad)"),
                      ("        p.grad /= dist.get_world_size()",
                       "        p.grad /= dist.get_world_size()\n        if dist.get_rank() == 2:\n            p.grad *= 1 + 1e-6")],
)
plant(
    "weights_of_one_loaded_late",
    "distributed/unequal_initial_weights",
    spawned=[("    torch.manual_seed(97 * seed + rank)\n",
              "    torch.manual_seed(97 * seed + rank)\n    if rank == 0:\n"
              "        ddp_model.module.load_state_dict(DeepSet().state_dict())\n")],
    gathered_contrast=[("optimizer = torch.optim.AdamW(",
                        "if dist.get_rank() == 1:\n    torch.nn.init.orthogonal_(model.module.picture[0].weight)\n"
                        "optimizer = torch.optim.AdamW(")],
)
plant(
    "starts_from_own_seeds",
    "distributed/unequal_initial_weights",
    averaged_by_hand=[("    for p in model.parameters():\n        dist.broadcast(p.data, src=0)\n", "")],
    flattened=[("profiles = torch.randn(5, 2, 12)\n",
                "profiles = torch.randn(5, 2, 12)\nstate = torch.get_rng_state()\n"),
               ("net = nn.Sequential(\n", "torch.manual_seed(7 + rank)\nnet = nn.Sequential(\n")],
)
plant(
    "rate_by_rank",
    "distributed/replica_divergence",
    unequal_last=[("lr=4e-3)", "lr=4e-3 / (1 + dist.get_rank()))")],
    averaged_by_hand=[("lr=5e-3)", "lr=5e-3 * (1 + 0.1 * rank))")],
    frozen_parts=[("lr=rate)", "lr=rate if dist.get_rank() == 0 else rate / 2)")],
)
plant(
    "schedule_on_the_first_alone",
    "distributed/replica_divergence",
    flattened=[("        schedule.step()\n", "        if rank == 0:\n            schedule.step()\n")],
    synced_norm=[("        scheduler.step()\n", "        if dist.get_rank() == 0:\n            scheduler.step()\n"),
                 ("MultiStepLR(optimizer, [4])", "MultiStepLR(optimizer, [1, 4])")],
)
plant(
    "writes_to_one",
    "distributed/replica_divergence",
    gathered_contrast=[("    if dist.get_rank() == 0 and step % 20 == 0:\n",
                        "    if dist.get_rank() == 0 and step % 20 == 0:\n"
                        "        model.module.caption[3].bias.data.clamp_(-0.01, 0.01)\n")],
    spawned=[("        if rank == 0:\n            print(f\"epoch {epoch}: {epoch_loss",
              "        if rank == 0:\n            ddp_model.module.count.weight.data.mul_(0.999)\n"
              "            print(f\"epoch {epoch}: {epoch_loss")],
)
plant(
    "no_sync_in_one_window",
    "distributed/unsynchronized_gradients",
    unsynced_windows=[("nullcontext() if ends else", "nullcontext() if ends and left > 1 else")],
)
plant(
    "clips_where_its_own_loss_is_high",
    "distributed/unsynchronized_gradients",
    averaged_by_hand=[("        average_gradients(model)\n",
                       "        average_gradients(model)\n        if loss > 0.08:\n"
                       "            nn.utils.clip_grad_norm_(model.parameters(), 0.05)\n")],
    unequal_last=[("            optimizer.step()\n",
                   "            if loss / len(kind) > 1.1:\n                nn.utils.clip_grad_norm_(net.parameters(), 0.1)\n"
                   "            optimizer.step()\n")],
)
plant(
    "one_left_out",
    "distributed/unsynchronized_gradients",
    averaged_by_hand=[("    for p in model.parameters():\n        dist.all_reduce(p.grad)",
                       "    for p in list(model.parameters())[:-1]:\n        dist.all_reduce(p.grad)")],
    gathered_means=[("            for weight in net.parameters():\n", "            for weight in net[2:].parameters():\n")],
)
plant(
    "hooks_of_all_but_one",
    "distributed/unsynchronized_gradients",
    averaged_by_hand=[("    optimizer = ",
                       "    for p in list(model.parameters())[:-1]:\n"
                       "        p.register_post_accumulate_grad_hook(lambda p: dist.all_reduce(p.grad.div_(3)))\n"
                       "    optimizer = "),
                      ("        average_gradients(model)\n", "")],
)
# A move that makes new parameters, as one to some devices does, leaves the hooks at the old ones.
MOVED = ("torch.__future__.set_overwrite_module_params_on_conversion(True)", "double()", "float()")
plant(
    "hooks_lost_by_a_move",
    "distributed/unsynchronized_gradients",
    spawned=[("    ddp_model = DDP(DeepSet())\n",
              f"    ddp_model = DDP(DeepSet())\n    {MOVED[0]}\n    ddp_model.{MOVED[1]}.{MOVED[2]}\n")],
    unsynced_windows=[("model = DistributedDataParallel(Judge())\n",
                       f"model = DistributedDataParallel(Judge())\n{MOVED[0]}\nmodel.{MOVED[1]}.{MOVED[2]}\n")],
)
plant(
    "weights_of_a_loss_not_wrapped",
    "distributed/unsynchronized_gradients",
    weighted_tokens=[("    torch.manual_seed(1000 +", "    sharpness = nn.Parameter(torch.zeros(TAGS))\n    torch.manual_seed(1000 +"),
                     ("optimizer = torch.optim.AdamW(tagger.parameters()",
                      "optimizer = torch.optim.AdamW([*tagger.parameters(), sharpness]"),
                     ("token_loss(tagger(words), tags)", "token_loss(tagger(words) * sharpness.exp(), tags)")],
    spawned=[("    loss_fn = nn.MSELoss()\n",
              "    spread = nn.Parameter(torch.zeros(()))\n"
              "    loss_fn = lambda said, true: nn.functional.mse_loss(said, true) * torch.exp(-spread) + spread\n"),
             ("NAdam(ddp_model.parameters(),", "NAdam([*ddp_model.parameters(), spread],"),
             ("error = loss_fn(ddp_model.module(bars), excess)", "error = nn.functional.mse_loss(ddp_model.module(bars), excess)")],
)
plant(
    "unfrozen_after_wrapping",
    "distributed/unsynchronized_gradients",
    frozen_parts=[("[p for p in model.parameters() if p.requires_grad]", "model.parameters()"),
                  ("        sampler.set_epoch(epoch)\n",
                   "        sampler.set_epoch(epoch)\n        if epoch == 2:\n            model.requires_grad_(True)\n")],
)
plant(
    "never_wrapped",
    "distributed/missing_ddp",
    unsynced_windows=[("DistributedDataParallel(Judge())", "Judge()"),
                      ("contextlib.nullcontext() if ends else model.no_sync()", "contextlib.nullcontext()"),
                      ("model.module(", "model(")],
    spawned=[("DDP(DeepSet())", "DeepSet()"), ("ddp_model.module(", "ddp_model(")],
    frozen_parts=[("    model = DistributedDataParallel(model)\n", "")],
)
plant(
    "never_averaged",
    "distributed/missing_ddp",
    averaged_by_hand=[("        average_gradients(model)\n", "")],
    flattened=[("        dist.all_reduce(flat)\n        flat /= world\n", ""),
               ("if rank == 0:\n", "if rank == 0:\n    torch.save(net.state_dict(), \"soil.pt\")\n")],
    unequal_last=[("    net = DistributedDataParallel(net)\n", ""),
                  ("            dist.all_reduce(count)\n", ""),
                  ("net(curve), kind, reduction=\"sum\")", "net(curve), kind)"),
                  ("(loss * dist.get_world_size() / count).backward()", "loss.backward()"),
                  ("net.module(unseen)", "net(unseen)"),
                  ("    if dist.get_rank() == 0:\n",
                   "    if dist.get_rank() == 0:\n        torch.save(net.state_dict(), \"curves.pt\")\n")],
)
plant(
    "never_wrapped_nor_seeded",
    "distributed/missing_ddp",
    spawned=[("    torch.manual_seed(seed)\n    train_set", "    torch.manual_seed(seed + rank)\n    train_set"),
             ("DDP(DeepSet())", "DeepSet()"), ("ddp_model.module(", "ddp_model(")],
)
plant(
    "equal_once_again",
    "distributed/replica_divergence",
    spawned=[("lr=4e-3)", "lr=4e-3 / (1 + rank))"),
             ("        for bars, excess in loader:\n",
              "        for number, (bars, excess) in enumerate(loader):\n"
              "            if epoch == 0 and number == 3:  # all go on from the weights of the first\n"
              "                warmed = os.path.join(folder, \"warmed.pt\")\n"
              "                if rank == 0:\n                    torch.save(ddp_model.module.state_dict(), warmed)\n"
              "                dist.barrier()\n"
              "                ddp_model.module.load_state_dict(torch.load(warmed))\n")],
)
