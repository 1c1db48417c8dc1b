#include "diagnostics/cli/preload.h"

#include <cstdlib>
#include <filesystem>

#include "checks/engine/text.h"
#include "checks/observe/launcher/linked_torch.h"
#include "checks/records/version.h"
#include "diagnostics/cli/places.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

std::string WorkerCache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/') return StrCat(cache, "/dlcheck/preload/", kVersion);
  if (home == nullptr || *home != '/') return "";
  return StrCat(home, "/.cache/dlcheck/preload/", kVersion);
}

Preload PreloadFor(const Words& command) {
  Preload preload{.gate = "", .workers = "", .torch = LinkedTorch(command)};
  if (preload.torch.empty()) return preload;
  const std::string id = BuildIdOf(preload.torch);
  const std::string shipped = ShareFolder("preload"), own = WorkerCache();
  const std::string gate = StrCat(shipped, "/libdlcheck_gate.so");
  for (const std::string& folder : {shipped, own}) {
    const bool has_worker = !folder.empty() && Exists(StrCat(folder, "/", id, ".so"));
    if (!has_worker || !Exists(gate)) continue;
    preload.gate = gate;
    preload.workers = folder;
    break;
  }
  return preload;
}

}  // namespace dlcheck::cli
