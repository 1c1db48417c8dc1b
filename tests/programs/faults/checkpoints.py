"""Faults to plant: checkpoints."""

from planting import add

RESET = "lambda m: m.reset_parameters() if hasattr(m, 'reset_parameters') else None"

# The experiment alone: what others find in these programs is theirs.
RESUMED = ("--deep", "--ignore", "learnability/*", "--ignore", "reproducibility/*")

add(
    "resumes_without_optimizer",
    "checkpoint/inexact_resume",
    options=RESUMED,
    resuming_script=[('    rule.load_state_dict(kept["rule"])\n', "")],
    resuming_class=[('            part.load_state_dict(content[name])\n',
                     '            if name != "sgd":\n                part.load_state_dict(content[name])\n')],
    resuming_counter=[('    opt.load_state_dict(state["opt"])\n', "")],
)
add(
    "resumes_without_a_part",
    "checkpoint/inexact_resume",
    options=RESUMED,
    resuming_script=[('    decay.load_state_dict(kept["decay"])\n', "")],
    resuming_class=[('            part.load_state_dict(content[name])\n',
                     '            if name != "mean":\n                part.load_state_dict(content[name])\n')],
    resuming_counter=[('    warm.load_state_dict(state["warm"])\n', "")],
)
add(
    "optimizer_not_loaded",
    "checkpoint/state_not_restored",
    trainer_class=[('        self.optimizer.load_state_dict(content["optimizer"])\n', "")],
    workers_and_contexts=[('                rule.load_state_dict(saved["rule"])\n', "")],
    plain_script=[("for epoch in range(EPOCHS):\n",
                   "for epoch in range(EPOCHS):\n    if epoch == 3:\n"
                   "        model.load_state_dict(torch.load(os.path.join(folder.name, 'last.pt'))['model'])\n")],
)
add(
    "moments_stay_in_their_file",
    "checkpoint/state_not_restored",
    folder="healthy",
    two_lives=[("        weights, moments = (torch.load(file) for file in self.files)\n",
                "        weights = torch.load(self.files[0])\n"),
               ("        self.rule.load_state_dict(moments)\n", "")],
)
add(
    "weights_stay_in_their_file",
    "checkpoint/state_not_restored",
    folder="healthy",
    two_lives=[("        weights, moments = (torch.load(file) for file in self.files)\n",
                "        moments = torch.load(self.files[1])\n"),
               ("        self.mixer.load_state_dict(weights)\n", "")],
)
add(
    "weights_into_another_object",
    "checkpoint/state_not_restored",
    workers_and_contexts=[('                module.load_state_dict(saved["module"])\n',
                           '                create()[0].load_state_dict(saved["module"])\n')],
    trainer_class=[('        self.net.load_state_dict(content["net"])\n',
                    '        __import__("copy").deepcopy(self.net).load_state_dict(content["net"])\n')],
)
add(
    "optimizer_not_saved",
    "checkpoint/incomplete_checkpoint",
    plain_script=[('        "optimizer": optimizer.state_dict(),\n', "")],
    trainer_class=[("            schedule=self.schedule.state_dict(),\n", ""),
                   ('        self.schedule.load_state_dict(content["schedule"])\n', "")],
    workers_and_contexts=[('"rule": rule, ', ""), ('                rule.load_state_dict(saved["rule"])\n', "")],
)
add(
    "nan_saved",
    "checkpoint/nonfinite_save",
    plain_script=[('"model": model.state_dict()',
                   '"model": {name: value.float().log() for name, value in model.state_dict().items()}')],
    closures=[("    return test(network, source), history",
               "    spoilt = {name: value / 0 for name, value in network.state_dict().items()}\n"
               "    torch.save(spoilt, 'spoilt.pt')\n"
               "    return test(network, source), history")],
    event_stream=[("        if number % 60 == 59:\n",
                   "        if number % 60 == 59:\n"
                   "            torch.save({'net': {k: (v - v) / 0 for k, v in net.state_dict().items()}}, 'net.pt')\n")],
)
add(
    "names_of_another",
    "checkpoint/no_matching_keys",
    finetune=[("body = {name: value for", "body = {'module.' + name: value for")],
    trainer_class=[('self.net.load_state_dict(content["net"])',
                    "self.net.load_state_dict({'model.' + k: v for k, v in content['net'].items()}, strict=False)")],
    workers_and_contexts=[('module.load_state_dict(saved["module"])',
                           "module.load_state_dict({'net.' + k: v for k, v in saved['module'].items()}, strict=False)")],
)
add(
    "initialized_after_loading",
    "checkpoint/overwritten_weights",
    finetune=[("    network.load_state_dict(body, strict=False)\n",
               f"    network.load_state_dict(body, strict=False)\n    network.apply({RESET})\n")],
    trainer_class=[('        self.net.load_state_dict(content["net"])\n',
                    f'        self.net.load_state_dict(content["net"])\n        self.net.apply({RESET})\n')],
    workers_and_contexts=[('                module.load_state_dict(saved["module"])\n',
                           '                module.load_state_dict(saved["module"])\n'
                           f"                module.apply({RESET})\n")],
)
add(
    "best_state_not_copied",
    "checkpoint/aliased_state_dict",
    plain_script=[("    accuracy = evaluate()\n", "    accuracy = evaluate()\n    best = model.state_dict()\n"),
                  ("assert accuracy > 0.8", "model.load_state_dict(best)\nassert accuracy > 0.8")],
    closures=[("        history.append(update(x, y))\n",
               "        history.append(update(x, y))\n        kept = dict(network.named_parameters())\n"),
              ("    return test(network, source), history\n",
               "    network.load_state_dict(kept)\n    return test(network, source), history\n")],
    running_average=[("    round_number += 1\n", "    round_number += 1\n    last = live.state_dict(keep_vars=True)\n"),
                     ("score = 1 -", "live.load_state_dict(last)\nscore = 1 -")],
)
add(
    "draws_not_restored",
    "checkpoint/inexact_resume",
    options=RESUMED,
    resuming_script=[('    torch.set_rng_state(kept["draws"])\n', "")],
    resuming_counter=[('    torch.set_rng_state(state["random"][0]); random.setstate(state["random"][1])\n', "")],
)
add(
    "counter_not_restored",
    "checkpoint/inexact_resume",
    options=RESUMED,
    resuming_class=[('        self.done = content["done"]\n', "")],
)
add(
    "last_epoch_not_saved",
    "checkpoint/unsaved_last_steps",
    plain_script=[("    torch.save(state, os.path.join(folder.name, \"last.pt\"))",
                   "    if epoch % 2 == 1:\n        torch.save(state, os.path.join(folder.name, \"last.pt\"))")],
    trainer_class=[("            self.save()\n", "            if epoch % 2 == 0:\n                self.save()\n")],
    event_stream=[("        if number % 60 == 59:\n",
                   "        if number % 70 == 69:\n"
                   "            torch.save({'net': net.state_dict()}, 'net.pt')\n        if number % 60 == 59:\n")],
)
