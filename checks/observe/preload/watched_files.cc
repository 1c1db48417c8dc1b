// The part of the watcher that is about files: what is written into them and taken back.
#include <optional>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/watcher.h"
#include "checks/observe/probe/guarded.h"

namespace dlcheck {
namespace {

constexpr size_t kMostEarlyReads = 64;

// What was read before there was a watcher, in order: each a file, or a model that took its state.
// Guarded by the watcher's lock.
struct EarlyRead {
  std::string file;
  Probe::Site site;
  std::optional<LoadedModule> module;
};
std::vector<EarlyRead>& EarlyReads() {
  static auto* reads = new std::vector<EarlyRead>;
  return *reads;
}

void AddEarlyRead(EarlyRead read) {
  if (EarlyReads().size() < kMostEarlyReads) EarlyReads().push_back(std::move(read));
}

}  // namespace

void Watcher::TakeEarlyReads() {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    for (EarlyRead& read : std::exchange(EarlyReads(), {})) {
      if (read.module) {
        restored_.Took(*std::move(read.module), recorder);
      } else {
        restored_.Read(read.file, read.site, recorder);
      }
    }
  });
}

void Watcher::FileRead(const std::string& path) noexcept {
  Reads([&](Watcher* watcher) {
    if (watcher == nullptr) return AddEarlyRead({path, CallSite(), std::nullopt});
    Guarded(watcher->recorder_.get(),
            [&](ProbeRecorder& recorder) { watcher->restored_.Read(path, CallSite(), recorder); });
  });
}

void Watcher::ModuleRead(const torch::nn::Module& module) noexcept {
  Reads([&](Watcher* watcher) {
    if (watcher != nullptr && !watcher->restored_.looks_at_modules()) return;
    LoadedModule loaded(module, CallSite());
    if (watcher == nullptr) return AddEarlyRead({"", {"", 0, ""}, std::move(loaded)});
    Guarded(watcher->recorder_.get(),
            [&](ProbeRecorder& recorder) { watcher->restored_.Took(std::move(loaded), recorder); });
  });
}

void Watcher::Saved(const std::string& path) {
  const Inside inside;
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { restored_.Saved(path, CallSite(), recorder); });
}

void Watcher::OptimizerRead(torch::optim::Optimizer& optimizer) {
  const Inside inside;
  const int number = NumberOf(optimizer);
  if (number == kUnwatched) return;
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { restored_.Took(number, CallSite(), recorder); });
}

}  // namespace dlcheck
