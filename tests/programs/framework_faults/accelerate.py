"""Faults to plant: Accelerate."""

from framework_faults import plant

# In what the accelerator is told, and in how it is called.
plant(
    "accelerate_own_backward",
    "training_loop/unscaled_accumulation",
    accelerate_accumulated=[("accelerator.backward(loss)", "loss.backward()")],
)
plant(
    "accelerate_schedule_for_each_micro_batch",
    "schedule/lr_is_zero",
    accelerate_accumulated=[("gradient_accumulation_steps=4)",
                             "gradient_accumulation_steps=4, step_scheduler_with_optimizer=False)"),
                            ("1.0, 0.02", "1.0, 0.0")],
)
plant(
    "accelerate_schedule_not_prepared",
    "schedule/lr_is_zero",
    accelerate_accumulated=[("model, optimizer, train, held, schedule = accelerator.prepare(model, optimizer, train, held, schedule)",
                             "model, optimizer, train, held = accelerator.prepare(model, optimizer, train, held)"),
                            ("1.0, 0.02", "1.0, 0.0")],
)
plant(
    "accelerate_schedule_of_another",
    "schedule/other_optimizer",
    accelerate_accumulated=[("LinearLR(\n    optimizer,", "LinearLR(\n    torch.optim.Adam(model.parameters(), lr=1e-2),"),
                            ("train, held, schedule = acc", "train, held = acc"), ("train, held, schedule)", "train, held)")],
)
plant(
    "accelerate_clips_before_sync",
    "gradients/clipped_during_accumulation",
    accelerate_accumulated=[("            if accelerator.sync_gradients:\n                accelerator.clip_grad_norm_(model.parameters(), 5.0)\n",
                             "            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n")],
)
plant(
    "accelerate_divides_again",
    "training_loop/doubly_divided_loss",
    accelerate_accumulated=[("accelerator.backward(loss)", "accelerator.backward(loss / 4)")],
)

# In the loop and the model.
plant(
    "accelerate_initialized_after_loading",
    "checkpoint/overwritten_weights",
    accelerate_two_models=[("pair.accelerator.load_state(folder)\n",
                            "pair.accelerator.load_state(folder)\n"
                            "for part in [*pair.teacher, *pair.student]:\n"
                            "    getattr(part, 'reset_parameters', int)()\n")],
)
plant(
    "accelerate_clears_before_step",
    "gradients/zeroed_before_step",
    accelerate_bf16=[("        optimizer.zero_grad()\n", ""),
                     ("    optimizer.step()\n", "    optimizer.zero_grad()\n        optimizer.step()\n")],
)
plant(
    "accelerate_no_clearing",
    "optimizer/stale_gradients",
    accelerate_accumulated=[("            optimizer.zero_grad()\n", "")],
)
plant(
    "accelerate_optimizer_of_a_copy",
    "optimizer/stale_parameters",
    accelerate_bf16=[("network, optimizer, loader, held = acc", "network = Parity()\nnetwork, optimizer, loader, held = acc")],
)
plant(
    "accelerate_evaluates_in_training_mode",
    "evaluation/in_train_mode",
    accelerate_two_models=[("        self.student.eval()\n", "")],
)
plant(
    "accelerate_stays_in_evaluation_mode",
    "training_loop/stuck_in_eval_mode",
    accelerate_two_models=[("        self.teacher.train()\n        self.student.train()\n", "")],
)
