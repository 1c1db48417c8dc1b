# The C++ probe: the one part of checks/ that links LibTorch, and is left out without it.
if(DLCHECK_HAS_LIBTORCH)
  dlcheck_compile_alone(probe_recorder.cc)
  dlcheck_library(dlcheck_probe
    SOURCES probe.cc probe_calls.cc probe_clearing.cc probe_clock.cc probe_hooks.cc probe_loss.cc probe_models.cc
            probe_optimizer.cc probe_ranks.cc probe_recorder.cc probe_rule.cc probe_state.cc tensor_summary.cc
    DEPENDS dlcheck_records dlcheck::libtorch)
  target_include_directories(dlcheck_probe PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_compile_features(dlcheck_probe PUBLIC cxx_std_17)
  dlcheck_use_torch(dlcheck_probe)
endif()
