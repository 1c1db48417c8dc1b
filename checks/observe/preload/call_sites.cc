#include "checks/observe/preload/call_sites.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace dlcheck {
namespace {

constexpr int kMostFrames = 64;
// Some of these may be functions of LibTorch's headers.
constexpr size_t kMostOwnFrames = 8;

// A loaded file that the program consists of.
struct Loaded {
  uintptr_t begin, end, base;
  std::string path;
};

// Whether code of a library is not the program's own.
bool IsLibrary(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view other :
       {"libtorch", "libc10", "libgomp", "libdlcheck", "libstdc++", "libgcc_s", "libc.so",
        "libm.so", "libpthread", "ld-linux", "linux-vdso", "libcaffe2", "libmkl", "libcuda",
        "libcudart"}) {
    if (name.substr(0, other.size()) == other) return true;
  }
  return path.find("/preload/") != std::string_view::npos;
}

int AddLoaded(dl_phdr_info* info, size_t, void* list) {
  std::string path = info->dlpi_name;
  char executable[4096];
  if (path.empty()) {
    const ssize_t length = readlink("/proc/self/exe", executable, sizeof(executable));
    if (length <= 0) return 0;
    path.assign(executable, static_cast<size_t>(length));
  }
  if (IsLibrary(path)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    static_cast<std::vector<Loaded>*>(list)->push_back(
        {begin, begin + part.p_memsz, info->dlpi_addr, path});
  }
  return 0;
}

// The files as they were when the first site was asked for; code loaded later has no sites.
const std::vector<Loaded>& LoadedFiles() {
  static const std::vector<Loaded>* files = [] {
    auto* list = new std::vector<Loaded>;
    dl_iterate_phdr(&AddLoaded, list);
    return list;
  }();
  return *files;
}

const Loaded* FileOf(uintptr_t address) {
  for (const Loaded& file : LoadedFiles()) {
    if (address >= file.begin && address < file.end) return &file;
  }
  return nullptr;
}

// "/path/train+0x1a2b"
std::string TextOf(const Loaded& file, uintptr_t address) {
  char offset[32];
  snprintf(offset, sizeof(offset), "+0x%zx", static_cast<size_t>(address - file.base));
  return file.path + offset;
}

Probe::Site SiteMarked(const char* mark) {
  static auto* texts = new std::map<std::pair<const char*, std::vector<uintptr_t>>, std::string>;
  void* frames[kMostFrames];
  const int count = backtrace(frames, kMostFrames);
  std::vector<uintptr_t> own;
  for (int i = 0; i < count && own.size() < kMostOwnFrames; ++i) {
    // A return address is behind the call.
    const uintptr_t address = reinterpret_cast<uintptr_t>(frames[i]) - 1;
    if (FileOf(address) != nullptr) own.push_back(address);
  }
  const auto [known, fresh] = texts->try_emplace({mark, own});
  std::string& text = known->second;
  for (size_t i = 0; fresh && i < own.size(); ++i) {
    text += (i == 0 ? mark : "|") + TextOf(*FileOf(own[i]), own[i]);
  }
  return {text.c_str(), 0, ""};
}

}  // namespace

// LibTorch's functions that call an operator lie in the namespace at::_ops.
bool IsCalledByProgram() {
  void* frames[kMostFrames];
  const int count = backtrace(frames, kMostFrames);
  for (int i = 1; i < count; ++i) {
    if (FileOf(reinterpret_cast<uintptr_t>(frames[i]) - 1) == nullptr) continue;
    Dl_info caller;
    const bool is_named = dladdr(frames[i - 1], &caller) != 0 && caller.dli_sname != nullptr;
    return is_named && std::string_view(caller.dli_sname).substr(0, 10) == "_ZN2at4_op";
  }
  return false;
}

bool IsProgram(const void* address) {
  return FileOf(reinterpret_cast<uintptr_t>(address)) != nullptr;
}

Probe::Site CallSite() { return SiteMarked("@"); }

Probe::Site CallSiteOfForward() { return SiteMarked("@^"); }

}  // namespace dlcheck
