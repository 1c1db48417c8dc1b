"""The experiment zero_lr, and steps that are only tried."""
