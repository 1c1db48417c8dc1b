# The CMake package dlcheck: the C++ probe and models as plugins, compiled here against your LibTorch.
#
#   find_package(dlcheck REQUIRED)
#   target_link_libraries(my_program PRIVATE dlcheck::probe)   # #include "dlcheck/probe.h"
#   dlcheck_add_model(mynet mynet.cc)                          # libmynet.so for dlcheck check --model
#
# LibTorch is taken from DLCHECK_PYTHON's torch, .venv or python3, unless dlcheck::libtorch is a target
# already.
# Kept in the cache: functions run in their caller's scope.
get_filename_component(_dlcheck_here ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
set(_dlcheck_prefix ${_dlcheck_here} CACHE INTERNAL "")
if(NOT TARGET dlcheck::libtorch)
  include(${CMAKE_CURRENT_LIST_DIR}/libtorch.cmake)
endif()
if(NOT TARGET dlcheck::libtorch)
  set(dlcheck_FOUND FALSE)
  set(dlcheck_NOT_FOUND_MESSAGE "no torch 2.6 or newer was found; set DLCHECK_PYTHON to a Python that has one")
  return()
endif()

if(NOT TARGET dlcheck::probe)
  file(GLOB _dlcheck_sources ${_dlcheck_prefix}/share/dlcheck/probe/checks/records/*.cc
       ${_dlcheck_prefix}/share/dlcheck/probe/checks/observe/probe/*.cc)
  add_library(dlcheck_probe STATIC EXCLUDE_FROM_ALL ${_dlcheck_sources})
  add_library(dlcheck::probe ALIAS dlcheck_probe)
  target_compile_features(dlcheck_probe PUBLIC cxx_std_17)
  # In one file: LibTorch's headers are read once.
  set_target_properties(dlcheck_probe PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD ON
                        UNITY_BUILD_BATCH_SIZE 0)
  target_include_directories(dlcheck_probe PUBLIC ${_dlcheck_prefix}/include
                             ${_dlcheck_prefix}/share/dlcheck/probe)
  # As LibTorch itself is built: at::RecordFunction has a member more without NDEBUG.
  target_compile_definitions(dlcheck_probe PRIVATE NDEBUG)
  target_compile_options(dlcheck_probe PRIVATE -O1)
  target_link_libraries(dlcheck_probe PUBLIC dlcheck::libtorch)
endif()

function(dlcheck_add_model name)
  add_library(${name} MODULE ${ARGN})
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_include_directories(${name} PRIVATE ${_dlcheck_prefix}/include)
  target_link_libraries(${name} PRIVATE dlcheck::libtorch)
endfunction()
set(dlcheck_FOUND TRUE)
