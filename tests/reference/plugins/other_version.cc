// What a plugin that was built with other versions says: PLUGIN_ABI, LIBTORCH and CXX11_ABI are
// given by the build. Its factory must never be called.
#include <torch/version.h>

#include <cstdint>
#include <cstdlib>

struct Versions {
  uint32_t size, plugin_abi;
  const char* torch_version;
  int32_t cxx11_abi;
};

extern "C" Versions dlcheck_plugin_versions() {
  return {sizeof(Versions), PLUGIN_ABI, LIBTORCH, CXX11_ABI};
}

extern "C" int dlcheck_plugin_create() { std::abort(); }
