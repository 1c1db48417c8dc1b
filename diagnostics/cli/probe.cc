// `dlcheck probe PROGRAM`: builds the probe that `dlcheck run` loads into C++ programs, for the
// LibTorch that a program is linked with.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/time/time.h"
#include "checks/engine/clock.h"
#include "checks/engine/text.h"
#include "checks/observe/launcher/linked_torch.h"
#include "diagnostics/cli/command_line.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/places.h"
#include "diagnostics/cli/preload.h"
#include "diagnostics/cli/quiet_child.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;

// The libtorch_cpu.so that a word means: the library, a folder of LibTorch, or a program.
std::string TorchNamed(const std::string& word) {
  std::error_code error;
  for (const fs::path& path : {fs::path(word), fs::path(word) / "lib" / "libtorch_cpu.so",
                               fs::path(word) / "libtorch_cpu.so"}) {
    if (path.filename() == "libtorch_cpu.so" && fs::exists(path, error)) return path.string();
  }
  return LinkedTorch({word});
}

// All sources in one file: LibTorch's headers are read once.
absl::StatusOr<std::string> WriteUnity(const std::string& sources, const std::string& file) {
  std::error_code error;
  std::ofstream unity(file);
  for (const char* folder : {"checks/records", "checks/observe/probe", "checks/observe/preload",
                             "checks/observe/preload/batches", "checks/observe/preload/experiments",
                             "checks/observe/preload/graph", "checks/observe/preload/losses",
                             "checks/observe/preload/steps", "checks/observe/preload/weights"}) {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(sources) / folder, error)) {
      if (entry.path().extension() != ".cc" || entry.path().filename() == "gate.cc") continue;
      unity << "#include \"" << folder << "/" << entry.path().filename().string() << "\"\n";
    }
    if (error)
      return absl::NotFoundError(
          StrCat("cannot read '", sources, "/", folder, "': ", error.message()));
  }
  unity.close();
  if (!unity) return absl::UnavailableError(StrCat("cannot write '", file, "'"));
  return file;
}

Words Compilation(const std::string& torch, const std::string& unity, const std::string& output) {
  const char* compiler = std::getenv("CXX");
  const std::string sources = ShareFolder("probe");
  const fs::path libraries = fs::path(torch).parent_path();
  const std::string headers = (libraries.parent_path() / "include").string();
  return {compiler == nullptr || *compiler == 0 ? "c++" : compiler,
          "-std=c++17",
          "-O1",
          "-DNDEBUG",  // as LibTorch itself: at::RecordFunction has a member more without it
          "-fPIC",
          "-shared",
          "-fvisibility=hidden",
          "-Wl,-Bsymbolic",
          "-I" + sources,
          "-I" + sources + "/include",
          "-isystem",
          headers,
          "-isystem",
          headers + "/torch/csrc/api/include",
          unity,
          "-o",
          output,
          "-L" + libraries.string(),
          "-ltorch",
          "-ltorch_cpu",
          "-lc10"};
}

std::string Printable(const Words& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Builds into the cache under another name first: a run that begins meanwhile sees all or nothing.
absl::StatusOr<std::string> Build(const std::string& torch, const std::string& id) {
  const std::string folder = WorkerCache();
  if (folder.empty()) return absl::FailedPreconditionError("HOME is not set: there is no cache");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::UnavailableError(StrCat("cannot make '", folder, "': ", error.message()));
  const std::string stem = StrCat(folder, "/", id, ".", getpid());
  absl::StatusOr<std::string> unity = WriteUnity(ShareFolder("probe"), stem + ".cc");
  if (!unity.ok()) return unity;
  const Words command = Compilation(torch, *unity, stem + ".so");
  const absl::StatusOr<int> status = RunQuietly(command);
  if (!status.ok()) return status.status();
  if (*status != 0) {
    return absl::FailedPreconditionError(
        StrCat("the compiler failed; its messages come with:\n", Printable(command)));
  }
  fs::remove(*unity, error);
  const std::string built = StrCat(folder, "/", id, ".so");
  fs::rename(stem + ".so", built, error);
  if (error) return absl::UnavailableError(StrCat("cannot write '", built, "': ", error.message()));
  return built;
}

}  // namespace

int ProbeMain(const Words& words) {
  std::string word;
  CommandLine line(
      "probe PROGRAM",
      "Builds the probe that dlcheck run loads into C++ programs, for one LibTorch.\n"
      "Takes half a minute, once for each version of LibTorch. CXX names the compiler.");
  line.Value("PROGRAM", "PROGRAM", &word,
             "a program that is linked with LibTorch, or a folder of LibTorch", {.required = true});
  if (const auto code = line.Parse(words)) return *code;
  const std::string torch = TorchNamed(word);
  if (torch.empty()) {
    return Refuse(absl::InvalidArgumentError(
        StrCat("'", word, "' is neither a LibTorch nor a program linked dynamically with one")));
  }
  const std::string id = BuildIdOf(torch);
  if (id.empty()) {
    return Refuse(absl::InvalidArgumentError(StrCat("'", torch, "' has no build id")));
  }
  if (const std::string there = WorkerFor(id); !there.empty()) {
    std::printf("dlcheck  %s is there for %s\n", there.c_str(), torch.c_str());
    return kExitClean;
  }
  std::fprintf(stderr, "dlcheck  building the probe for %s: about half a minute\n", torch.c_str());
  const absl::Duration began = MonotonicNow();
  const absl::StatusOr<std::string> built = Build(torch, id);
  if (!built.ok()) return Refuse(built.status());
  std::printf("dlcheck  built %s in %ld s\n", built->c_str(),
              static_cast<long>(absl::ToInt64Seconds(MonotonicNow() - began)));
  return kExitClean;
}

}  // namespace dlcheck::cli
