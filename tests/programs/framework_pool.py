"""The frameworks that people train with: healthy programs of each, and the checks that must judge them.

Every check of the catalog reaches a verdict on at least one program of every framework. Outside of this
are checks that need --deep where it is not given, a limit or a declaration from the user, an accelerator, or a program that
calls the probe; EXCEPTIONS holds what else a framework itself keeps out of sight, or never does.
"""

import re

PROGRAMS = {
    "Trainer": ("trainer_classifier", "trainer_language_model", "trainer_tagger", "trainer_compiled",
                "trainer_ramps", "trainer_resumed"),
    "Lightning": ("lightning_digits", "lightning_gan", "lightning_resumed", "lightning_words",
                  "lightning_ramps", "lightning_restarted"),
    "Accelerate": ("accelerate_accumulated", "accelerate_bf16", "accelerate_two_models", "accelerate_ramps",
                   "accelerate_resumed"),
    "DDP": ("distributed_digits", "distributed_checkpointed", "distributed_words", "distributed_ramps",
            "distributed_resumed"),
    "FSDP2": ("sharded_curves", "sharded_mixed", "sharded_ramps", "sharded_resumed"),
    "compiled": ("compiled_checkpointed", "compiled_words", "compiled_ramps", "compiled_resumed"),
    "DeepSpeed": ("deepspeed_digits",),
}
PROCESSES = {"DDP": 2, "FSDP2": 2, "DeepSpeed": 2}
# Not in the table: an engine steps flat parts of the parameters, so that checks by parameter, and those
# of what the optimizer consumes, do not apply.
UNTABLED = ("DeepSpeed",)

# Reasons of a check that no program of a framework can change.
OUTSIDE = re.compile(r"needs --deep|no limit was given|on an accelerator|not reported to the probe|no memory snapshot")
# Programs of one process have none to compare with; several processes are the columns DDP and FSDP2.
ALONE = "only one process trained"
# Checks of what no healthy program of these does: weights in low precision without a copy, an overflow,
# a growth of the scale that the user declares, files of which each process writes its part.
RARE = ("precision/lost_updates", "precision/stuck_scale", "precision/wrong_scale_growth", "checkpoint/missing_shards")
# Checks of curves over hundreds of losses, or over several evaluations with a loss: programs of frameworks are short.
CURVES = ("evaluation/better_than_training", "evaluation/rising_loss", "training_loop/flat_loss", "training_loop/plateaued_loss")
SCALED = ("precision/autocast_not_applied", "precision/clip_before_unscale", "precision/nonfinite_step",
          "precision/scaled_step", "precision/skipped_steps")  # fmt: skip

BETWEEN_REPLICAS = tuple(f"distributed/{name}" for name in (
    "different_buffers", "identical_dropout_masks", "missing_no_sync", "overlapping_data", "replica_divergence",
    "same_data", "straggler", "unequal_initial_weights", "uneven_inputs", "unsynchronized_gradients",
    "unweighted_rank_mean", "missing_ddp", "step_skipped_on_one_rank", "wrong_gradient_scale"))  # fmt: skip

# A framework's own reasons, each with the checks that reach no verdict because of it.
REASONS = {
    "Trainer": {
        "it takes fp16, and so a loss scaler, on an accelerator alone": SCALED,
        "losses are worked out from scores, which no activation bounds": ("data/targets_out_of_range",),
        "its batches are put together anew from rows of another kind": ("data/reordered_targets",),
        "it saves the last step itself": ("checkpoint/unsaved_last_steps",),
    },
    "Lightning": {
        "it takes fp16, and so a loss scaler, on an accelerator alone": SCALED,
        "it divides each loss by the length of a full window itself, so that uneven micro-batches or a "
        "short window are the fault": ("training_loop/unweighted_accumulation", "training_loop/short_accumulation_window"),
    },
    "Accelerate": {
        "it takes fp16, and so a loss scaler, on an accelerator alone": SCALED,
        "it divides each loss by the length of a full window itself, so that uneven micro-batches or a "
        "short window are the fault": ("training_loop/unweighted_accumulation", "training_loop/short_accumulation_window"),
    },
    "DDP": {
        "which parameters have gradients is fixed as the model is wrapped": ("optimizer/frozen_parameters_updated",),
        "its programs have no running statistics": ("distributed/different_buffers",),
    },
    "FSDP2": {
        "its policy of mixed precision has no loss scaler": SCALED,
        "which parameters have gradients is fixed as the model is sharded": ("optimizer/frozen_parameters_updated",),
        "its programs have one optimizer": ("optimizer/parameters_in_two_optimizers", "optimizer/gradients_of_another_loss"),
        "its programs evaluate twice at most": ("evaluation/tested_on_selection_data",),
        "digests of weights are not taken where each process holds a part": (
            "checkpoint/inexact_resume", "checkpoint/overwritten_weights", "evaluation/changes_model",
            "evaluation/draws_random_numbers", "evaluation/nondeterministic"),
        "its weights are no plain tensors, so that none is held or moved": (
            "data/target_leakage", "data/input_target_mismatch", "data/order_dependence",
            "gradients/gradient_mismatch", "training_loop/mixed_reductions", "training_loop/split_dependence"),
        "hooks of its own run in its backward": ("training_loop/negligible_loss_term",),
        "a process holds a part of each weight and gradient": ("distributed/mismatched_gradient", *BETWEEN_REPLICAS),
    },
    "compiled": {
        "a function with a backward of its own is traced and not called": ("gradients/failed_gradcheck",),
        "terms of a loss are told by calls that are seen one by one": ("training_loop/negligible_loss_term",),
        "what a compiled model computes last is not told": ("data/targets_out_of_range",),
        "its programs take windows of micro-batches or go on from a file, so that which rows were "
        "trained on is not known": ("data/train_eval_overlap",),
    },
}
EXCEPTIONS = {(framework, check): reason for framework, reasons in REASONS.items()
              for reason, checks in reasons.items() for check in checks}  # fmt: skip


def framework_of(program):
    return next(name for name, programs in PROGRAMS.items() if program in programs)


def verdicts(results):
    """{check: (reached, reasons)} over the results of one framework's programs taken together."""
    found = {}
    for result in results:
        for check in result["checks"]:
            reached, reasons = found.setdefault(check["id"], [False, set()])
            found[check["id"]][0] = reached or check["outcome"] in ("passed", "failed")
            reasons.add(check["reason"])
    return {check: (reached, reasons - {""}) for check, (reached, reasons) in found.items()}


def outside(check, reasons):
    """Whether no program of one framework can have a verdict of this check."""
    if check in (*RARE, *CURVES) or any(ALONE in reason for reason in reasons):
        return True
    return bool(reasons) and all(OUTSIDE.search(reason) for reason in reasons)
