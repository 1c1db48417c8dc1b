# Debian's packages; a missing one ends the configuration with the line that installs all of them.
find_package(absl QUIET)
find_package(CLI11 QUIET)
find_package(GTest QUIET)
find_package(benchmark QUIET)
find_package(nlohmann_json QUIET)
find_package(OpenSSL QUIET)
find_package(pugixml QUIET)
find_package(ZLIB QUIET)
find_package(HDF5 QUIET COMPONENTS C)
find_package(PkgConfig QUIET)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h)
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(_missing "")
foreach(pair absl_FOUND:libabsl-dev CLI11_FOUND:libcli11-dev GTest_FOUND:libgtest-dev
             GTest_FOUND:libgmock-dev benchmark_FOUND:libbenchmark-dev
             nlohmann_json_FOUND:nlohmann-json3-dev OPENSSL_FOUND:libssl-dev pugixml_FOUND:libpugixml-dev
             ZLIB_FOUND:zlib1g-dev HDF5_FOUND:libhdf5-dev
             TOMLPLUSPLUS_INCLUDE_DIR:libtomlplusplus-dev)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 _found)
  list(GET pair 1 _package)
  if(NOT ${_found})
    list(APPEND _missing ${_package})
  endif()
endforeach()
if(_missing)
  list(JOIN _missing " " _missing)
  message(FATAL_ERROR "Packages are missing. Install them with:\n  apt-get install ${_missing}")
endif()

add_library(dlcheck_tomlplusplus INTERFACE)
target_include_directories(dlcheck_tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIR})

add_library(dlcheck_hdf5 INTERFACE)
target_include_directories(dlcheck_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_compile_definitions(dlcheck_hdf5 INTERFACE ${HDF5_C_DEFINITIONS})
target_link_libraries(dlcheck_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
