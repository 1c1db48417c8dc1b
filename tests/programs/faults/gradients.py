"""Faults to plant: gradients and the order of calls."""

from planting import add

add(
    "no_clearing",
    "optimizer/stale_gradients",
    plain_script=[("        optimizer.zero_grad()\n", "")],
    trainer_class=[("        self.optimizer.zero_grad()\n", "")],
    closures=[("        descent.zero_grad()\n", "")],
    bf16_main=[("                solver.zero_grad()\n", "")],
    event_stream=[("        adam.zero_grad()\n", "")],
)
add(
    "cleared_before_step",
    "gradients/zeroed_before_step",
    plain_script=[("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n")],
    closures=[("        value.backward()\n", "        value.backward()\n        descent.zero_grad()\n")],
    running_average=[("        loss.backward()\n", "        loss.backward()\n        live.zero_grad()\n")],
    finetune=[("            loss.backward()\n",
               "            loss.backward()\n            optimizer.zero_grad(set_to_none=False)\n")],
)
add(
    "detached_path",
    "gradients/missing",
    plain_script=[("outputs = model(inputs)\n        loss",
                   "outputs = model[4](model[:4](inputs).detach())\n        loss")],
    trainer_class=[("hidden = self.pool(torch.relu(self.norm(self.conv(pictures))))",
                    "hidden = self.pool(torch.relu(self.norm(self.conv(pictures)))).detach()")],
    closures=[("output = network(x)", "output = network[4](network[:4](x).data)")],
    counted_tokens=[("self.output(self.dropout(states))", "self.output(self.dropout(states.detach()))")],
)
add(
    "loss_made_anew",
    "gradients/no_parameter_gets_gradient",
    plain_script=[("        loss.backward()\n",
                   "        loss = torch.tensor(loss.item(), requires_grad=True)\n        loss.backward()\n")],
    trainer_class=[("        logits = self.net(pictures)\n        loss",
                    "        with torch.no_grad():\n            logits = self.net(pictures)\n"
                    "        logits.requires_grad_()\n        loss")],
    closures=[("        output = network(x)\n", "        output = network(x).detach().requires_grad_()\n")],
    finetune=[("loss = objective(output, y)", "loss = objective(output.data.requires_grad_(), y)")],
)
add(
    "layer_of_the_forward",
    "model/layers_created_in_forward",
    trainer_class=[("torch.relu(self.norm(self.conv(pictures)))",
                    "torch.relu(nn.BatchNorm2d(12)(self.conv(pictures)))")],
    running_average=[("silu(self.norm(self.middle(x)))", "silu(self.norm(torch.nn.Linear(40, 40)(x)))")],
    counted_tokens=[("self.output(self.dropout(states))", "self.output(nn.Linear(*[states.shape[-1]] * 2)(states))")],
)
add(
    "probabilities_into_loss",
    "model/double_softmax",
    plain_script=[("loss = F.cross_entropy(outputs,", "loss = F.cross_entropy(outputs.softmax(1),")],
    trainer_class=[("        return self.head(self.drop(hidden.flatten(1)))",
                    "        return torch.softmax(self.head(self.drop(hidden.flatten(1))), dim=1)")],
    finetune=[("objective(output, y)", "objective(nn.functional.softmax(output, -1), y)")],
    event_stream=[("body.append(torch.nn.Linear(32, 3))",
                   "body.append(torch.nn.Linear(32, 3)).append(torch.nn.Softmax(dim=-1))")],
)
add(
    "not_a_number",
    "numerics/nonfinite_values",
    plain_script=[("outputs = model(inputs)\n        loss",
                   "outputs = model(inputs / (scheduler.last_epoch != 90))\n        loss")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits, kinds)\n"
                    "        loss = loss / (self.schedule.last_epoch != 90)")],
    closures=[("torch.sin(2 * x[:, 0])", "torch.log(x[:, 0])")],
    running_average=[("        optimizer.step()\n",
                      "        optimizer.step()\n"
                      "        live.leave.bias.data *= float('inf')\n")],
)
add(
    "exploding",
    "gradients/exploding",
    plain_script=[
        ("loss.backward()", "(loss * 1000 ** (scheduler.last_epoch > 99 and torch.rand(()) < 0.1)).backward()"),
        ("        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n", ""),
    ],
    running_average=[("loss = mse(output[:, 0], y)",
                      "loss = mse(output[:, 0], y) * (1000 if round_number > 1 and torch.rand(()) < 0.06 else 1)")],
    finetune=[("loss = objective(output, y)",
               "loss = objective(output, y) * (500 if epoch > 1 and torch.rand(()) < 0.15 else 1)"),
              ("epochs=6, freeze_at=2", "epochs=14, freeze_at=9")],
)
add(
    "grown_after_clip",
    "gradients/ineffective_clip",
    plain_script=[("model.parameters(), 1.0)\n",
                   "model.parameters(), 1.0)\n        for p in model.parameters():\n            p.grad.mul_(40)\n")],
    trainer_class=[("self.net.parameters(), 2.0)\n",
                    "self.net.parameters(), 2.0)\n"
                    "        torch._foreach_mul_([p.grad for p in self.net.parameters()], 1e5)\n")],
    closures=[("network.parameters(), bound)\n",
               "network.parameters(), bound)\n"
               "        for p in network.parameters():\n            p.grad = p.grad * 90\n")],
)
add(
    "clipped_after_step",
    "gradients/clipped_after_step",
    plain_script=[("        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        optimizer.step()\n",
                   "        optimizer.step()\n        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n")],
    trainer_class=[("        nn.utils.clip_grad_norm_(self.net.parameters(), 2.0)\n        self.optimizer.step()\n",
                    "        self.optimizer.step()\n        nn.utils.clip_grad_norm_(self.net.parameters(), 2.0)\n")],
    closures=[("        torch.nn.utils.clip_grad_norm_(network.parameters(), bound)\n        descent.step()\n",
               "        descent.step()\n        torch.nn.utils.clip_grad_norm_(network.parameters(), bound)\n")],
)
add(
    "clip_of_a_part",
    "gradients/partial_clip",
    plain_script=[("clip_grad_norm_(model.parameters()", "clip_grad_norm_(model[0].parameters()")],
    trainer_class=[("clip_grad_norm_(self.net.parameters()", "clip_grad_norm_(self.net.head.parameters()")],
    closures=[("clip_grad_norm_(network.parameters()", "clip_grad_norm_(network[0].parameters()")],
    bf16_main=[("clip_grad_norm_(network.parameters()", "clip_grad_norm_(network[0].parameters()")],
)
add(
    "bound_far_below",
    "gradients/always_clipped",
    plain_script=[("model.parameters(), 1.0)", "model.parameters(), 1e-3)")],
    closures=[("bound=1.0", "bound=1e-3")],
    event_stream=[("net.parameters(), 0.5)", "net.parameters(), 5e-4)")],
)
add(
    "bound_far_above",
    "gradients/never_clipped",
    plain_script=[("model.parameters(), 1.0)", "model.parameters(), 1e3)")],
    closures=[("bound=1.0", "bound=500.0")],
    trainer_class=[("self.net.parameters(), 2.0)", "self.net.parameters(), 2e3)")],
)
add(
    "deep_sigmoids",
    "gradients/vanishing",
    plain_script=[("    nn.ReLU(),\n", "    nn.ReLU(),\n    *[nn.Sigmoid() for _ in range(14)],\n")],
    closures=[("    layers += [torch.nn.Linear(width, width), torch.nn.Tanh()]\n",
               "    for _ in range(14):\n        layers += [torch.nn.Linear(width, width), torch.nn.Sigmoid()]\n")],
    event_stream=[("        body.append(torch.nn.GELU())\n",
                   "        body.extend([torch.nn.Sigmoid() for _ in range(14)])\n")],
)
add(
    "step_first",
    "training_loop/step_before_backward",
    plain_script=[
        ("        optimizer.step()\n", ""),
        ("        loss.backward()\n", "        optimizer.step()\n        loss.backward()\n"),
    ],
    running_average=[("        loss.backward()\n        optimizer.step()\n",
                      "        optimizer.step()\n        loss.backward()\n")],
    finetune=[("            loss.backward()\n            optimizer.step()\n",
               "            optimizer.step()\n            loss.backward()\n")],
)
add(
    "graph_retained",
    "training_loop/retained_graph",
    plain_script=[("loss.backward()", "loss.backward(retain_graph=True)")],
    trainer_class=[("loss.backward()", "loss.backward(retain_graph=True)")],
    closures=[("value.backward()", "value.backward(retain_graph=True)")],
    counted_tokens=[("(loss * share).backward()", "(loss * share).backward(retain_graph=True)")],
)
add(
    "graphs_kept",
    "training_loop/graph_leak",
    plain_script=[("EPOCHS = 7\n", "EPOCHS = 7\ncurve = []\n"),
                  ("        loss.backward()\n", "        loss.backward()\n        curve.append(loss)\n")],
    trainer_class=[("return loss.detach()", "return loss")],
    closures=[("return value.item()", "return value")],
    running_average=[("round_number = 0\n", "round_number, total = 0, 0\n"),
                     ("        optimizer.zero_grad()\n", "        optimizer.zero_grad()\n        total += loss\n")],
)
