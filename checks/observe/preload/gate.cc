// The library that `dlcheck run` preloads into programs that are linked with LibTorch. It needs
// nothing but the C library, so that a shell or a launcher between us and the program is not
// changed by it. It stands before the functions that end a process at once, and defines functions
// of LibTorch that jump to the real ones, or to those of a worker: the probe, compiled for the very
// LibTorch that this process has.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "checks/observe/preload/entries.h"

extern "C" {
// Where each entry jumps to; null until it is called for the first time.
void* dlcheck_targets[64] __attribute__((visibility("hidden")));
void* dlcheck_resolve(int entry) __attribute__((visibility("hidden")));
__attribute__((visibility("default"))) void dlcheck_yield();
}

// Each entry: a jump through its target. The first call keeps all registers that hold arguments and
// asks for the target.
asm(R"(
.text
dlcheck_first_call:
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  pushq %rax
  pushq %r10
  subq $136, %rsp
  movups %xmm0, 0(%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  movl %r11d, %edi
  call dlcheck_resolve
  movq %rax, %r11
  movups 0(%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  addq $136, %rsp
  popq %r10
  popq %rax
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  jmp *%r11
)");
#define DLCHECK_ENTRY(number, name, symbol)                     \
  asm(".globl " symbol "\n.type " symbol ", @function\n" symbol \
      ":\n"                                                     \
      "  endbr64\n"                                             \
      "  movq dlcheck_targets+8*" #number                       \
      "(%rip), %r11\n"                                          \
      "  testq %r11, %r11\n"                                    \
      "  je 1f\n"                                               \
      "  jmp *%r11\n"                                           \
      "1: movl $" #number                                       \
      ", %r11d\n"                                               \
      "  jmp dlcheck_first_call\n"                              \
      ".size " symbol ", .-" symbol "\n");
#include "checks/observe/preload/entries.def"
#undef DLCHECK_ENTRY

namespace dlcheck {
namespace {

constexpr const char* kSymbols[] = {
#define DLCHECK_ENTRY(number, name, symbol) symbol,
#include "checks/observe/preload/entries.def"
#undef DLCHECK_ENTRY
};

constexpr size_t kLongestId = 64;  // bytes of a build id

struct Library {
  char path[4096];
  char id[2 * kLongestId + 1];  // in hexadecimal
};

void FormatId(const unsigned char* bytes, size_t count, char* text) {
  for (size_t i = 0; i < count && i < kLongestId; ++i) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

// The build id in the notes of one segment.
void LookForId(const char* notes, size_t size, char* text) {
  const auto aligned = [](size_t count) { return (count + 3) & ~size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(notes);
    const size_t name = aligned(note->n_namesz), content = aligned(note->n_descsz);
    const size_t whole = sizeof(*note) + name + content;
    if (whole > size) return;
    const char* bytes = notes + sizeof(*note);
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(bytes, "GNU", 4) == 0) {
      return FormatId(reinterpret_cast<const unsigned char*>(bytes + name), note->n_descsz, text);
    }
    notes += whole;
    size -= whole;
  }
}

// Fills in the LibTorch of this process; stops the search where it is found.
int LookAtLibrary(dl_phdr_info* info, size_t, void* found) {
  const char* name = strrchr(info->dlpi_name, '/');
  if (name == nullptr || strcmp(name, "/libtorch_cpu.so") != 0) return 0;
  auto& library = *static_cast<Library*>(found);
  snprintf(library.path, sizeof(library.path), "%s", info->dlpi_name);
  for (int i = 0; i < info->dlpi_phnum && library.id[0] == 0; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    LookForId(reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_memsz,
              library.id);
  }
  return 1;
}

GoAround worker = nullptr;
Yield worker_yields = nullptr;
End worker_ends = nullptr;
void* torch_library = nullptr;
bool asked = false;

// The first folder of the variable that has a worker for this LibTorch.
void* OpenWorker(const char* folders, const char* id) {
  while (*folders != 0) {
    const char* end = strchrnul(folders, ':');
    char path[4096];
    const auto length = static_cast<int>(end - folders);
    if (snprintf(path, sizeof(path), "%.*s/%s.so", length, folders, id) <
            static_cast<int>(sizeof(path)) &&
        access(path, R_OK) == 0) {
      return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    folders = *end == 0 ? end : end + 1;
  }
  return nullptr;
}

// Python programs have a probe of their own.
bool IsPython() { return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr; }

void LookForWorker() {
  const char* folders = getenv(kWorkersVariable);
  if (asked || folders == nullptr) return;
  static Library library;
  dl_iterate_phdr(&LookAtLibrary, &library);
  if (library.path[0] == 0) return;
  asked = true;
  torch_library = dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD);
  if (library.id[0] == 0 || IsPython()) return;
  void* opened = OpenWorker(folders, library.id);
  if (opened == nullptr) return;
  worker = reinterpret_cast<GoAround>(dlsym(opened, kGoAroundSymbol));
  worker_yields = reinterpret_cast<Yield>(dlsym(opened, kYieldSymbol));
  worker_ends = reinterpret_cast<End>(dlsym(opened, kEndSymbol));
}

__attribute__((constructor)) void Begin() { LookForWorker(); }

}  // namespace
}  // namespace dlcheck

// Called once an entry, or a few times where threads meet, with the same result.
void* dlcheck_resolve(int entry) {
  using namespace dlcheck;
  LookForWorker();
  void* original = dlsym(RTLD_NEXT, kSymbols[entry]);
  if (original == nullptr && torch_library != nullptr) {
    original = dlsym(torch_library, kSymbols[entry]);
  }
  void* target = worker != nullptr ? worker(entry, original) : nullptr;
  if (target == nullptr) target = original;
  dlcheck_targets[entry] = target;
  return target;
}

void dlcheck_yield() {
  if (dlcheck::worker_yields != nullptr) dlcheck::worker_yields();
}

// As the C library has them, but for a worker that is told before.
extern "C" __attribute__((visibility("default"), noreturn)) void _exit(int status) {
  if (dlcheck::worker_ends != nullptr) dlcheck::worker_ends();
  for (;;) syscall(SYS_exit_group, status);
}

extern "C" __attribute__((visibility("default"), noreturn)) void _Exit(int status) noexcept {
  _exit(status);
}

extern "C" __attribute__((visibility("default"), noreturn)) void quick_exit(int status) noexcept {
  if (dlcheck::worker_ends != nullptr) dlcheck::worker_ends();
  const auto original = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "quick_exit"));
  if (original != nullptr) original(status);
  _exit(status);
}
