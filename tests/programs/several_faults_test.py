"""Two and three faults at once in one program: each is found, or the report says which finding masks its check.

Drawn by one seed of all that fit into one program and let it run. An eighth, drawn by the commit; DLCHECK_ALL=1
takes all.
"""

import json
import pathlib
import subprocess
import tempfile
import unittest

from check_faults import beside_its_host
from drawing import drawn
from planting import replaced
from plants import FAULTS
from watching import DLCHECK, FOLDER, python

PROGRAMS = [
    ("bf16_main", ("added_up_in_bf16", "clipped_in_window", "epsilon_of_ten")),
    ("counted_tokens", ("detached_path", "slow_reading")),
    ("packed_rows", ("heads_of_mixed_places", "every_place_is_the_first")),
    ("trainer_class", ("part_in_no_optimizer", "ends_early", "probabilities_into_divergence")),
    ("resuming_script", ("norm_left_in_evaluation", "norm_of_two")),
    ("closures", ("shared_storage", "activation_left_out")),
    ("bf16_main", ("divided_twice", "seed_in_each_micro_batch", "made_for_steps")),
    ("next_symbols", ("norm_beyond_float", "shifted_twice")),
    ("encoder_class", ("recomputed_above_frozen", "reshape_for_transpose")),
    ("event_stream", ("schedule_of_another", "cleared_in_window", "mean_of_means")),
    ("workers_and_contexts", ("scaler_left_out", "schedule_forgotten")),
    ("running_average", ("schedule_forgotten", "hidden_by_where")),
    ("event_stream", ("epsilon_of_ten", "probabilities_into_loss")),
    ("resuming_script", ("norm_left_in_evaluation", "evaluated_on_raw_numbers")),
    ("labeled_decoder", ("one_layer_at_all_places", "copy_breaks_the_tie", "every_place_is_the_first")),
    ("bf16_main", ("epsilon_of_ten", "seed_in_each_micro_batch")),
    ("resuming_script", ("sample_divided_each_time", "norm_left_in_evaluation", "norm_of_two")),
    ("windowed_signal", ("units_alike", "epsilon_of_one")),
    ("masked_tagger", ("one_step_a_thousand_times_too_large", "whole_model_in_half")),
    ("workers_and_contexts", ("optimizer_not_loaded", "average_never_moves", "new_at_each_step")),
    ("workers_and_contexts", ("initialized_after_loading", "norm_of_two")),
    ("masked_tagger", ("result_not_taken", "gradients_far_below_epsilon", "recomputed_above_frozen")),
    ("workers_and_contexts", ("initialized_after_loading", "schedule_forgotten")),
    ("found_marks", ("rate_of_almost_nothing", "every_place_is_the_first", "rows_all_masked")),
    ("next_symbols", ("batch_taken_for_time", "state_of_other_samples")),
    ("windowed_signal", ("units_without_values", "epsilon_of_one")),
    ("windowed_signal", ("targets_in_other_units", "bias_that_norm_removes", "clipped_by_infinity")),
    ("event_stream", ("mean_of_means", "divided_twice")),
    ("masked_tagger", ("evaluation_draws_numbers", "recomputed_without_gradient")),
    ("trainer_class", ("holds_old_tensors", "saved_in_half", "outputs_without_classes")),
    ("framework", ("noise_in_evaluation", "decay_by_hand_before_adam")),
    ("running_average", ("cleared_before_step", "in_order")),
    ("bf16_main", ("cleared_in_window", "rate_of_almost_nothing", "no_clearing")),
    ("found_marks", ("rate_a_thousand_times_too_large", "every_place_is_the_first")),
    ("windowed_signal", ("units_without_values", "targets_in_other_units")),
    ("packed_rows", ("mask_is_trained", "whole_model_in_half", "every_place_is_the_first")),
    ("counted_tokens", ("evaluated_with_graph", "evaluated_in_training_mode")),
    ("next_symbols", ("batch_taken_for_time", "shifted_twice")),
    ("bf16_main", ("divided_twice", "rate_of_almost_nothing", "epsilon_of_ten")),
    ("closures", ("shared_storage", "bound_far_above")),
    ("counted_tokens", ("graph_retained", "cleared_in_window")),
    ("labeled_decoder", ("copy_breaks_the_tie", "one_layer_at_all_places", "scores_as_they_are")),
]  # fmt: skip


def source_of(host, faults):
    source = (FOLDER / "hosts" / f"{host}.py").read_text()
    for fault in faults:
        source = replaced(source, FAULTS[fault].hosts[host], f"{fault} in {host}.py")
    return source


def result_of(host, faults):
    with tempfile.TemporaryDirectory(prefix="dlcheck-test-") as name:
        folder = pathlib.Path(name)
        (folder / "program.py").write_text(source_of(host, faults))
        words = [DLCHECK, "run", "--output-dir", folder / "out", "--", *python(folder / "program.py")]
        subprocess.run(words, cwd=folder, capture_output=True, timeout=300, env=beside_its_host(faults[0]))
        return json.loads((folder / "out" / "result.json").read_text())


class SeveralFaults(unittest.TestCase):
    def test_each_is_found_or_what_masks_it_is_said(self):
        for host, faults in drawn(PROGRAMS, 8):
            with self.subTest(host=host, faults=faults):
                result = result_of(host, faults)
                found = {check["id"] for check in result["checks"] if check["findings"]}
                masked = {check for cause in result["order"] for check in cause.get("masks", ())}
                checks = [FAULTS[fault].check for fault in faults]
                hidden = [check for check in checks if check not in found]
                said = [check for check in hidden if {check, check.split("/")[0]} & masked]
                print(f"{host}: {len(checks) - len(hidden)} of {len(checks)} found, {len(said)} masked", flush=True)
                self.assertEqual(hidden, said, sorted(found))
                self.assertTrue(found.intersection(checks))


if __name__ == "__main__":
    unittest.main()
