"""Faults to plant: the Trainer of transformers."""

from framework_faults import plant

# In arguments and callbacks.
plant(
    "trainer_optimizer_of_another_model",
    "optimizer/stale_parameters",
    trainer_compiled=[("torch.optim.AdamW(model.parameters()", "torch.optim.AdamW(Classifier().parameters()")],
)
plant(
    "trainer_schedule_for_epochs",
    "schedule/wrong_total_steps",
    trainer_compiled=[("OneCycleLR(optimizer, 3e-3, total_steps=steps)",
                       "CosineAnnealingLR(optimizer, T_max=EPOCHS)")],
)
plant(
    "trainer_tiny_bound",
    "gradients/always_clipped",
    trainer_tagger=[("        bf16=True,\n", "        bf16=True,\n        max_grad_norm=1e-3,\n")],
)
plant(
    "trainer_callback_clears",
    "gradients/zeroed_before_step",
    trainer_tagger=[("    def on_step_end(self,",
                     "    def on_pre_optimizer_step(self, args, state, control, model=None, **others):\n"
                     "        model.zero_grad()\n\n    def on_step_end(self,")],
)
plant(
    "trainer_callback_changes_weights",
    "evaluation/changes_model",
    trainer_tagger=[("    def on_step_end(self,",
                     "    def on_prediction_step(self, args, state, control, model=None, **others):\n"
                     "        for weight in model.parameters():\n"
                     "            weight.data.mul_(0.999)\n\n    def on_step_end(self,")],
)
plant(
    "trainer_trains_in_evaluation",
    "evaluation/in_train_mode",
    trainer_tagger=[("class Rates(TrainerCallback):",
                     "    def prediction_step(self, model, *others, **options):\n"
                     "        model.train()\n"
                     "        return super().prediction_step(model, *others, **options)\n\n\n"
                     "class Rates(TrainerCallback):")],
)
plant(
    "trainer_collator_masks_all",
    "data/ignored_targets",
    trainer_tagger=[("        \"labels\": torch", "        \"labels\": -100 * (words >= 0) + 0 * torch"),
                    ("padding_value=-100", "padding_value=0")],
)
plant(
    "trainer_shifted_twice",
    "data/shifted_targets",
    trainer_language_model=[('"labels": self.rows[index]}', '"labels": self.rows[index].roll(-1)}')],
)
plant(
    "trainer_in_order",
    "data/unshuffled",
    trainer_language_model=[("    lr_scheduler_type=", "    train_sampling_strategy=\"sequential\",\n    lr_scheduler_type=")],
)
plant(
    "trainer_anomalies",
    "performance/debugging",
    trainer_compiled=[("trainer.train()", "with torch.autograd.detect_anomaly(False):\n    trainer.train()")],
)

# In what is overridden, and in the model.
plant(
    "trainer_divides_again",
    "training_loop/doubly_divided_loss",
    trainer_tagger=[("/ num_items_in_batch", "/ num_items_in_batch / self.args.gradient_accumulation_steps")],
)
plant(
    "trainer_softmax",
    "model/double_softmax",
    trainer_tagger=[("outputs.logits.flatten(0, 1)", "outputs.logits.softmax(-1).flatten(0, 1)")],
)
plant(
    "trainer_evaluation_mode",
    "training_loop/training_in_eval_mode",
    trainer_tagger=[("        outputs = model(**inputs)", "        model.eval()\n        outputs = model(**inputs)")],
)
plant(
    "trainer_detached",
    "gradients/missing",
    trainer_compiled=[("logits = self.body(features)", "logits = self.body[2:](self.body[:2](features).detach())")],
)
