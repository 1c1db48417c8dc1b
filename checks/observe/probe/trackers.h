// The switches of experiment trackers and model hubs that keep an experiment from telling them
// anything: a rerun for a test is none of the user's runs. Each from the tracker's own
// documentation of its environment variables. A hub that is switched off refuses an upload, which
// ends the experiment with that reason.
#pragma once

#include <array>
#include <string_view>

namespace dlcheck {

inline constexpr std::array<std::string_view, 8> kTrackersOff{
    "WANDB_MODE=disabled",    "COMET_MODE=disabled",       "NEPTUNE_MODE=debug",
    "CLEARML_OFFLINE_MODE=1", "SWANLAB_MODE=disabled",     "HF_HUB_OFFLINE=1",
    "HF_DATASETS_OFFLINE=1",  "HF_HUB_DISABLE_TELEMETRY=1"};

}  // namespace dlcheck
