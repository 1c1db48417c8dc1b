"""Faults to plant: terms of a loss that are not trained. They show in trials alone."""

from planting import add

from .dependence import TRIED

add(
    "detached_term",
    "training_loop/negligible_loss_term",
    TRIED,
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.cross_entropy(outputs, targets) + 0.02 * outputs.square().mean().detach()")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits, kinds)\n"
                    "        loss += logits.detach().logsumexp(1).square().mean()")],
    labeled_decoder=[("        loss = F.cross_entropy(here.flatten(0, 1), ahead.flatten())\n",
                       "        loss = F.cross_entropy(here.flatten(0, 1), ahead.flatten())\n"
                       "        penalty = x.detach().norm(dim=-1).mean()\n"
                       "        loss = sum([loss, 1e-3 * penalty])\n")],
)
add(
    "tiny_term",
    "training_loop/negligible_loss_term",
    TRIED,
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = 1e-9 * outputs.square().mean() + F.cross_entropy(outputs, targets)")],
    bf16_main=[("loss = F.cross_entropy(prediction.float(), labels)",
                "even = prediction.float().mean(0).square().sum()\n"
                "            loss = torch.add(F.cross_entropy(prediction.float(), labels), even, alpha=1e-7)")],
    running_average=[("        loss = mse(output[:, 0], y)\n",
                      "        smooth_l1 = torch.nn.functional.smooth_l1_loss(output[:, 0], y)\n"
                      "        parts = [mse(output[:, 0], y), smooth_l1 / 1e9]\n"
                      "        loss = torch.stack(parts).mean()\n")],
)
add(
    "penalty_without_gradients",
    "training_loop/negligible_loss_term",
    TRIED,
    running_average=[("        loss = mse(output[:, 0], y)\n",
                      "        loss = mse(output[:, 0], y)\n"
                      "        with torch.no_grad():\n"
                      "            penalty = sum(p.square().sum() for p in live.parameters())\n"
                      "        loss = loss + 1e-3 * penalty\n")],
    finetune=[("            loss = objective(output, y)\n",
               "            loss = objective(output, y)\n"
               "            loss = loss + 0.01 * network.classifier.weight.data.abs().sum()\n")],
    joined_queries=[("    wrong = torch.nn.functional.cross_entropy(reader(words, borders), kinds)\n",
                     "    with torch.no_grad():\n"
                     "        spread = reader(words, borders).logsumexp(1).square().mean()\n"
                     "    wrong = torch.nn.functional.cross_entropy(reader(words, borders), kinds)\n"
                     "    wrong = wrong - -1e-2 * spread\n")],
)
