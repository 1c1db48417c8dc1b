"""Where programs log their numbers. Known before torch is there: the standard library alone is imported."""

# By the module in which a logger is found: its class, its method, and what that is given. A method that is
# called with a name and a number says where these are; one that is called with many says where the dict is.
LOGGERS = {
    "accelerate.accelerator": (("Accelerator", "log", "dict", 1, "values"),),
    "lightning.pytorch.core.module": (("LightningModule", "log", "pair", 1, ("name", "value")),),
    "mlflow.tracking.client": (("MlflowClient", "log_metric", "pair", 2, ("key", "value")),
                               ("MlflowClient", "log_batch", "list", 2, "metrics")),
    "pytorch_lightning.core.module": (("LightningModule", "log", "pair", 1, ("name", "value")),),
    "tensorboardX.writer": (("SummaryWriter", "add_scalar", "pair", 1, ("tag", "scalar_value")),),
    "torch.utils.tensorboard.writer": (("SummaryWriter", "add_scalar", "pair", 1, ("tag", "scalar_value")),),
    "transformers.trainer": (("Trainer", "log", "dict", 1, "logs"),),
    "wandb.sdk.wandb_run": (("Run", "log", "dict", 1, "data"),),
}  # fmt: skip
