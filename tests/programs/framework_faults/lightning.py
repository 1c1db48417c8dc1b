"""Faults to plant: Lightning."""

from framework_faults import plant

# In arguments, callbacks and hooks.
plant(
    "lightning_callback_evaluation_mode",
    "training_loop/training_in_eval_mode",
    lightning_resumed=[("    def on_train_batch_end(self,",
                        "    def on_train_batch_start(self, trainer, model, batch, batch_idx):\n"
                        "        model.eval()\n\n    def on_train_batch_end(self,")],
)
plant(
    "lightning_schedule_per_epoch",
    "schedule/wrong_total_steps",
    lightning_digits=[('"interval": "step"', '"interval": "epoch"')],
)
plant(
    "lightning_callback_clears",
    "gradients/zeroed_before_step",
    lightning_resumed=[("    def on_train_batch_end(self,",
                        "    def on_before_optimizer_step(self, trainer, model, optimizer):\n"
                        "        model.zero_grad()\n\n    def on_train_batch_end(self,")],
)
plant(
    "lightning_callback_trains_in_validation",
    "evaluation/in_train_mode",
    lightning_resumed=[("    def on_train_batch_end(self,",
                        "    def on_validation_batch_start(self, trainer, model, *others):\n"
                        "        model.train()\n\n    def on_train_batch_end(self,")],
)
plant(
    "lightning_clips_each_micro_batch",
    "gradients/clipped_during_accumulation",
    lightning_resumed=[("    def on_train_batch_end(self,",
                        "    def on_after_backward(self, trainer, model):\n"
                        "        nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n\n    def on_train_batch_end(self,")],
)
plant(
    "lightning_tiny_bound",
    "gradients/always_clipped",
    lightning_resumed=[("gradient_clip_val=2.0", "gradient_clip_val=1e-4")],
)
plant(
    "lightning_anomalies",
    "performance/debugging",
    lightning_digits=[("    log_every_n_steps", "    detect_anomaly=True,\n    log_every_n_steps")],
)
plant(
    "lightning_gradients_in_validation",
    "evaluation/without_no_grad",
    lightning_digits=[("    log_every_n_steps", "    inference_mode=False,\n    log_every_n_steps"),
                      ("    def validation_step(self, batch, _):\n",
                       "    @torch.enable_grad()\n    def validation_step(self, batch, _):\n"),
                      ("batch_size=100", "batch_size=20")],
)
plant(
    "lightning_resumes_without_optimizer",
    "checkpoint/state_not_restored",
    lightning_resumed=[("    def on_train_batch_end(self,",
                        "    def on_load_checkpoint(self, trainer, model, checkpoint):\n"
                        "        checkpoint['optimizer_states'] = []\n\n    def on_train_batch_end(self,")],
)

# In the module.
plant(
    "lightning_no_clearing",
    "optimizer/stale_gradients",
    lightning_gan=[("        for_judge.zero_grad()\n", "")],
)
plant(
    "lightning_optimizer_of_a_copy",
    "optimizer/stale_parameters",
    lightning_resumed=[("torch.optim.Adam(self.parameters()", "torch.optim.Adam(Curves().parameters()")],
)
plant(
    "lightning_divides_again",
    "training_loop/doubly_divided_loss",
    lightning_resumed=[("return F.mse_loss(self(x), y)", "return F.mse_loss(self(x), y) / self.trainer.accumulate_grad_batches")],
)
plant(
    "lightning_softmax",
    "model/double_softmax",
    lightning_digits=[("nn.Linear(1024, 10))", "nn.Linear(1024, 10), nn.Softmax(1))")],
)
plant(
    "lightning_keeps_losses",
    "training_loop/graph_leak",
    lightning_digits=[("        self.log(\"loss\", loss)\n", "        self.losses = [*getattr(self, 'losses', []), loss]\n")],
)
