# The only functions that make targets. Warnings and their severity come from the presets.

# dlcheck_library(NAME SOURCES ... [DEPENDS ...])
function(dlcheck_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  dlcheck_compile_together(${name})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS})
endfunction()

# dlcheck_test(NAME SOURCES ... [DEPENDS ...] [LABELS ...]): labeled "unit" where no label is given
function(dlcheck_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  dlcheck_compile_together(${name})
  dlcheck_compile_quickly(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  # Relative to the working folder of every test: a second checkout finds what the first has compiled.
  file(RELATIVE_PATH _binary_dir ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_compile_definitions(${name} PRIVATE
    DLCHECK_SOURCE_DIR="." DLCHECK_BINARY_DIR="${_binary_dir}")
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()

# Several files in one run of the compiler, which reads their headers once. What is compiled anew for a
# change takes longer, so the presets for daily work leave it out.
function(dlcheck_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DLCHECK_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# Files whose local names others of their folder have, too.
function(dlcheck_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# For what runs seldom, and waits for files or for torch: compiled in two thirds of the time.
function(dlcheck_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()
