"""Faults to plant: gradients that are taken for a sum, or for a mean, once too often."""

from rank_faults import plant

plant(
    "loss_divided_by_processes",
    "distributed/wrong_gradient_scale",
    synced_norm=[("loss = criterion(net(images), kinds)",
                  "loss = criterion(net(images), kinds) / dist.get_world_size()")],
    spawned=[("loss = loss_fn(ddp_model(bars), excess)\n            loss.backward()",
              "loss = loss_fn(ddp_model(bars), excess)\n            (loss / 2).backward()")],
    unsynced_windows=[("(loss / in_window).backward()", "(loss / in_window / dist.get_world_size()).backward()")],
)
plant(
    "loss_times_processes",
    "distributed/wrong_gradient_scale",
    frozen_parts=[("            loss.backward()\n", "            (dist.get_world_size() * loss).backward()\n")],
)
plant(
    "gradients_divided_again",
    "distributed/wrong_gradient_scale",
    zero_redundancy=[("            loss.backward()\n",
                      "            loss.backward()\n            for p in model.parameters():\n"
                      "                if p.grad is not None:\n"
                      "                    p.grad.div_(dist.get_world_size())\n")],
    unsynced_windows=[("            torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)\n",
                       "            for p in model.parameters():\n                p.grad /= dist.get_world_size()\n"
                       "            torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)\n")],
)
plant(
    "gradients_added_again",
    "distributed/wrong_gradient_scale",
    frozen_parts=[("            loss.backward()\n",
                   "            loss.backward()\n            for p in model.parameters():\n"
                   "                if p.grad is not None:\n                    dist.all_reduce(p.grad)\n")],
    synced_norm=[("            loss.backward()\n",
                  "            loss.backward()\n            for p in net.parameters():\n"
                  "                dist.all_reduce(p.grad)\n")],
)
