"""Faults to plant: copies of shards, and of what is whole beside them, that come apart."""

from rank_faults import plant

plant(
    "writes_to_one_copy",
    "distributed/replica_divergence",
    hybrid_shards=[("            optimizer.step()\n",
                    "            optimizer.step()\n            if mesh.get_local_rank(\"copies\") == 1:\n"
                    "                model.hill.out.weight.detach().to_local().mul_(0.999)\n")],
    uneven_copies=[("        self.optimizer.step()\n",
                    "        self.optimizer.step()\n        if self.mesh.get_local_rank(\"again\") == 0:\n"
                    "            self.tell[0].bias.detach().to_local().clamp_(-0.05, 0.05)\n")],
    normed_parts=[("        decay.step()\n",
                   "        decay.step()\n        if mesh.get_local_rank(\"tp\") == 1:\n"
                   "            model.norm.weight.detach().to_local().clamp_(0.99, 1.01)\n")],
)
plant(
    "copies_from_own_seeds",
    "distributed/unequal_initial_weights",
    hybrid_shards=[("    model = Landscape()\n", "    torch.manual_seed(7 + dist.get_rank() // 2)\n    model = Landscape()\n")],
    uneven_copies=[("torch.manual_seed(seed)\n        self.bag", "torch.manual_seed(seed + dist.get_rank() // 2)\n        self.bag")],
    normed_parts=[("    return model, torch.optim",
                   "    if mesh.get_local_rank(\"tp\") == 0:\n"
                   "        nn.init.normal_(model.last.bias.detach().to_local(), std=0.1)\n"
                   "    return model, torch.optim")],
)
plant(
    "slopes_of_one_copy_changed",
    "distributed/unsynchronized_gradients",
    hybrid_shards=[("            optimizer.step()\n",
                    "            if mesh.get_local_rank(\"copies\") == 0:\n"
                    "                for p in model.parameters():\n"
                    "                    p.grad.to_local().clamp_(-0.01, 0.01)\n            optimizer.step()\n")],
    uneven_copies=[("        nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)\n",
                    "        if self.mesh.get_local_rank(\"again\") == 0:\n"
                    "            nn.utils.clip_grad_norm_(self.model.parameters(), 0.05)\n")],
)
plant(
    "slopes_of_one_copy_rounded",
    "distributed/replica_divergence",
    hybrid_shards=[("            optimizer.step()\n",
                    "            if dist.get_rank() == 3:\n                model.start.bias.grad.to_local().mul_(1 + 1e-6)\n"
                    "            optimizer.step()\n")],
    normed_parts=[("        optimizer.step()\n",
                   "        if mesh.get_local_rank(\"tp\") == 0:\n            model.last.weight.grad.to_local().mul_(1 + 1e-6)\n"
                   "        optimizer.step()\n")],
)
plant(
    "rate_by_copy",
    "distributed/replica_divergence",
    hybrid_shards=[("lr=6e-3)", "lr=6e-3 / (1 + mesh.get_local_rank(\"copies\")))")],
    uneven_copies=[("lr=1e-2)", "lr=1e-2 * (1 + 0.1 * self.mesh.get_local_rank(\"again\")))")],
)
