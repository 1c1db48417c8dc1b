"""Faults to plant: torch.compile with recomputed activations."""

from framework_faults import plant

# In arguments.
plant(
    "compiled_reentrant_without_gradient",
    "gradients/missing",
    compiled_checkpointed=[("x = checkpoint(block, x, use_reentrant=False)", "x = checkpoint(block, x, use_reentrant=True)"),
                           ("x = self.given(x).mean(1) * 3", "x = self.given(x).mean(1).detach() * 3")],
)
plant(
    "compiled_optimizer_of_a_copy",
    "optimizer/stale_parameters",
    compiled_checkpointed=[("    compiled = torch.compile(model,", "    compiled = torch.compile(Counter(),")],
)
plant(
    "compiled_resumes_without_optimizer",
    "checkpoint/state_not_restored",
    compiled_checkpointed=[("    part.load_state_dict(state)\n", "    part.load_state_dict(state)\n    break\n")],
)
plant(
    "compiled_schedule_for_epochs",
    "schedule/wrong_total_steps",
    compiled_checkpointed=[("train_for(1, *parts)\ntorch.save([part.state_dict() for part in parts], path)\n"
                            "parts = begun()\nfor part, state in zip(parts, torch.load(path)):\n"
                            "    part.load_state_dict(state)\n", ""),
                           ("CosineAnnealingLR(optimizer, EPOCHS * len(train))", "CosineAnnealingLR(optimizer, EPOCHS)"),
                           ("train_for(EPOCHS - 1, *parts)", "train_for(EPOCHS, *parts)")],
)
plant(
    "compiled_scale_clipped",
    "precision/clip_before_unscale",
    compiled_words=[("        scaler.unscale_(optimizer)\n        nn.utils.clip_grad_norm_(model.parameters(), 5.0)\n",
                     "        nn.utils.clip_grad_norm_(model.parameters(), 5.0)\n        scaler.unscale_(optimizer)\n")],
)

# In the loop and the model.
plant(
    "compiled_no_clearing",
    "optimizer/stale_gradients",
    compiled_checkpointed=[("            optimizer.zero_grad()\n", "")],
)
plant(
    "compiled_clears_before_step",
    "gradients/zeroed_before_step",
    compiled_checkpointed=[("            optimizer.zero_grad()\n", ""),
                           ("            loss.backward()\n", "            loss.backward()\n            optimizer.zero_grad()\n")],
)
plant(
    "compiled_softmax",
    "model/double_softmax",
    compiled_checkpointed=[("return self.said(x)", "return self.said(x).softmax(-1)")],
)
plant(
    "compiled_stays_in_evaluation_mode",
    "training_loop/stuck_in_eval_mode",
    compiled_checkpointed=[("        compiled.train()\n", "")],
)
plant(
    "compiled_divides_by_micro_batches",
    "training_loop/unweighted_accumulation",
    compiled_words=[('tags.flatten(), reduction="sum")', "tags.flatten())"), ("scaler.scale(loss / counted)", "scaler.scale(loss / len(window))")],
)
