# torch/torch.h takes 11 s to compile; precompiled once, it is shared by all that includes it. A target
# can share it only if it compiles with the same flags, so executables are made position-independent in
# the way that libraries are.
if(DLCHECK_HAS_LIBTORCH)
  file(CONFIGURE OUTPUT torch_pch.cc CONTENT "// Nothing but the precompiled header.\n")
  add_library(dlcheck_torch_pch STATIC ${CMAKE_CURRENT_BINARY_DIR}/torch_pch.cc)
  target_link_libraries(dlcheck_torch_pch PUBLIC dlcheck::libtorch)
  target_precompile_headers(dlcheck_torch_pch PRIVATE <torch/torch.h>)
endif()

# OWN_HEADER: the target has flags of its own, as debug information, so the compiler cannot use the shared header.
function(dlcheck_use_torch target)
  target_link_libraries(${target} PRIVATE dlcheck::libtorch)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  if("OWN_HEADER" IN_LIST ARGN)
    target_precompile_headers(${target} PRIVATE <torch/torch.h>)
  else()
    target_precompile_headers(${target} REUSE_FROM dlcheck_torch_pch)
  endif()
endfunction()
