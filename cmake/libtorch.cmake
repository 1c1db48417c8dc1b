# LibTorch from a Python's torch wheel, imported by hand: find_package(Torch) of a CUDA wheel wants
# nvcc for nothing that linking needs. Makes dlcheck::libtorch and sets DLCHECK_HAS_LIBTORCH.
#
# DLCHECK_PYTHON chooses the Python; otherwise .venv beside the top source folder, then python3.
set(DLCHECK_PYTHON "" CACHE FILEPATH "The Python whose torch (2.6 or newer) is linked")
option(DLCHECK_TORCH "Build what needs LibTorch, if it is found" ON)
set(DLCHECK_HAS_LIBTORCH OFF)

set(_pythons "${DLCHECK_PYTHON}" "$ENV{DLCHECK_PYTHON}" "${CMAKE_SOURCE_DIR}/.venv/bin/python3"
             python3)
set(DLCHECK_TORCH_VERSION "")
if(DLCHECK_TORCH)
  foreach(_python IN LISTS _pythons)
    if(_python STREQUAL "")
      continue()
    endif()
    # Finds the folder without importing torch, which takes seconds.
    execute_process(COMMAND ${_python} -c
      "import importlib.util as u, os, importlib.metadata as m; print(os.path.dirname(u.find_spec('torch').origin) + ';' + m.version('torch'))"
      OUTPUT_VARIABLE _torch OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE _failed ERROR_QUIET)
    if(NOT _failed)
      list(GET _torch 0 DLCHECK_TORCH_DIR)
      list(GET _torch 1 DLCHECK_TORCH_VERSION)
      set(DLCHECK_TORCH_PYTHON ${_python})
      break()
    endif()
  endforeach()
endif()

if(DLCHECK_TORCH_VERSION AND DLCHECK_TORCH_VERSION VERSION_LESS 2.6)
  message(FATAL_ERROR "torch ${DLCHECK_TORCH_VERSION} of ${DLCHECK_TORCH_PYTHON} is too old: 2.6 or newer is needed; set DLCHECK_PYTHON")
endif()
if(DLCHECK_TORCH_VERSION)
  set(DLCHECK_HAS_LIBTORCH ON)
  foreach(_name c10 torch_cpu torch)
    add_library(dlcheck::${_name} SHARED IMPORTED)
    set_target_properties(dlcheck::${_name} PROPERTIES
      IMPORTED_LOCATION ${DLCHECK_TORCH_DIR}/lib/lib${_name}.so)
  endforeach()
  add_library(dlcheck::libtorch INTERFACE IMPORTED)
  target_include_directories(dlcheck::libtorch SYSTEM INTERFACE
    ${DLCHECK_TORCH_DIR}/include ${DLCHECK_TORCH_DIR}/include/torch/csrc/api/include)
  target_compile_definitions(dlcheck::libtorch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
  target_link_libraries(dlcheck::libtorch INTERFACE dlcheck::torch dlcheck::torch_cpu dlcheck::c10)
  # The CUDA kernels register themselves when their library is loaded; nothing refers to it by name.
  set(DLCHECK_TORCH_HAS_CUDA OFF)
  if(EXISTS ${DLCHECK_TORCH_DIR}/lib/libtorch_cuda.so)
    set(DLCHECK_TORCH_HAS_CUDA ON)
    target_link_libraries(dlcheck::libtorch INTERFACE
      -Wl,--no-as-needed ${DLCHECK_TORCH_DIR}/lib/libtorch_cuda.so -Wl,--as-needed
      -Wl,--allow-shlib-undefined)
  endif()
  # ProcessGroupNCCL is in the wheel; its header wants that of NCCL, which comes with the wheel too,
  # those of a CUDA toolkit, and, where the toolkit has left them out, those of the wheel's packages.
  set(DLCHECK_HAS_NCCL OFF)
  get_filename_component(_site ${DLCHECK_TORCH_DIR} DIRECTORY)
  find_path(DLCHECK_NCCL_INCLUDE nccl.h HINTS ${_site}/nvidia/nccl/include)
  find_path(DLCHECK_CUDA_INCLUDE crt/host_defines.h
    HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include ${_site}/nvidia/cu13/include)
  if(DLCHECK_TORCH_HAS_CUDA AND DLCHECK_NCCL_INCLUDE AND DLCHECK_CUDA_INCLUDE)
    set(DLCHECK_HAS_NCCL ON)
    set(DLCHECK_NCCL_OPTIONS "-isystem;${DLCHECK_NCCL_INCLUDE};-isystem;${DLCHECK_CUDA_INCLUDE}")
    list(APPEND DLCHECK_NCCL_OPTIONS "-isystem;${_site}/nvidia/cu13/include")
  endif()
endif()
