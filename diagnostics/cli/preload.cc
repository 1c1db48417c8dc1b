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

std::string WorkerFor(const std::string& id) {
  for (const std::string& folder : {ShareFolder("preload"), WorkerCache()}) {
    const std::string worker = StrCat(folder, "/", id, ".so");
    if (!folder.empty() && !id.empty() && Exists(worker)) return worker;
  }
  return "";
}

Preload PreloadFor(const Words& command) {
  Preload preload{.gate = "", .workers = "", .torch = LinkedTorch(command)};
  if (preload.torch.empty()) return preload;
  const std::string worker = WorkerFor(BuildIdOf(preload.torch));
  const std::string gate = StrCat(ShareFolder("preload"), "/libdlcheck_gate.so");
  if (worker.empty() || !Exists(gate)) return preload;
  preload.gate = gate;
  preload.workers = fs::path(worker).parent_path().string();
  return preload;
}

}  // namespace dlcheck::cli
