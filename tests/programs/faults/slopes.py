"""Faults to plant: gradients that are another function's than the loss. They show under held weights."""

from planting import add

from .dependence import TRIED

add(
    "constant_term",
    "gradients/gradient_mismatch",
    TRIED,
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.cross_entropy(outputs, targets) + outputs.detach().square().mean()")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits, kinds) + 0.1 * logits.square().mean().item()")],
    running_average=[("        loss = mse(output[:, 0], y)\n",
                      "        with torch.no_grad():\n            spread = live(x).square().mean()\n"
                      "        loss = mse(output[:, 0], y) + spread\n")],
)
add(
    "penalty_on_copies",
    "gradients/gradient_mismatch",
    TRIED,
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.cross_entropy(outputs, targets)"
                   " + 0.05 * sum(p.data.square().sum() for p in model.parameters())")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits, kinds)"
                    " + 0.3 * sum(t.square().sum() for t in self.net.state_dict().values() if t.dim() > 1)")],
    running_average=[("loss = mse(output[:, 0], y)",
                      "loss = mse(output[:, 0], y)"
                      " + 0.1 * live.leave.weight.clone().detach().abs().sum()")],
)
add(
    "scaling_hook",
    "gradients/gradient_mismatch",
    TRIED,
    plain_script=[("scheduler = torch", "model[0].weight.register_hook(lambda grad: grad * 2)\nscheduler = torch")],
    trainer_class=[("        self.begin()\n",
                    "        self.net.head.weight.register_post_accumulate_grad_hook("
                    "lambda w: (w.grad.div_(24), None)[1])\n        self.begin()\n")],
    running_average=[("mse = torch.nn.MSELoss()",
                      "live.middle.register_full_backward_hook("
                      "lambda m, given, made: (given[0] * 0.5,))\nmse = torch.nn.MSELoss()")],
)
add(
    "bootstrapped_with_gradient",
    "training_loop/target_with_gradient",
    folder="healthy",
    actor_many_heads=[("    with torch.no_grad():\n        R = net", "    if True:\n        R = net")],
    dqn=[("        with torch.no_grad():\n            best = self.target(", "        if True:\n            best = self.online(")],
    steering=[("(0.9 * target_Q).detach()", "0.9 * target_Q")],
)
