# torch/torch.h takes 11 s to compile; precompiled once, it is shared by all that includes it. A target
# can share it only if it compiles with the same flags, so executables are made position-independent in
# the way that libraries are.
if(DLCHECK_HAS_LIBTORCH)
  file(CONFIGURE OUTPUT torch_pch.cc CONTENT "// Nothing but the precompiled header.\n")
  add_library(dlcheck_torch_pch STATIC ${CMAKE_CURRENT_BINARY_DIR}/torch_pch.cc)
  target_link_libraries(dlcheck_torch_pch PUBLIC dlcheck::libtorch)
  target_precompile_headers(dlcheck_torch_pch PRIVATE <torch/torch.h>)
endif()

# Even so, each run of the compiler takes 15 s for templates that the header alone asks for: all files of a target
# are compiled in one. NOT_PRECOMPILED: the target has flags of its own, as debug information.
function(dlcheck_use_torch target)
  target_link_libraries(${target} PRIVATE dlcheck::libtorch)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF
    UNITY_BUILD ${DLCHECK_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  target_compile_options(${target} PRIVATE -fPIC)
  if(NOT "NOT_PRECOMPILED" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM dlcheck_torch_pch)
  endif()
endfunction()
