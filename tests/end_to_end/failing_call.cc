// Preloaded into a program: lets its n-th call into the system fail.
//   FAIL_UNDER   count calls on files below this folder alone; empty: all calls
//   FAIL_IN      in the program of this name alone, and what it forks; else in every one
//   FAIL_CALLS   count calls of these names alone, parted by spaces
//   FAIL_AT      n, from 1; 0: none fails, and each that is counted is said
//   FAIL_ALWAYS  not only the n-th, but all from there on, as on a full disk: what is written into
//                space that a file has already does not fail
//   FAIL_LOG     file that is told which call failed; else standard error is
// Standard streams are left alone. Calls inside the C library, as of stdio, are not seen.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

namespace {

std::string PathOf(int descriptor) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = syscall(SYS_readlink, link.c_str(), path, sizeof(path));
  return length < 0 ? "" : std::string(path, static_cast<size_t>(length));
}

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

struct Plan {
  const std::string_view folder = Variable("FAIL_UNDER"), calls = Variable("FAIL_CALLS"),
                         log = Variable("FAIL_LOG");
  const int at = std::atoi(std::string(Variable("FAIL_AT")).c_str());
  const bool always = !Variable("FAIL_ALWAYS").empty();
  const bool is_meant =
      !Variable("FAIL_AT").empty() &&
      (Variable("FAIL_IN").empty() || Variable("FAIL_IN") == program_invocation_short_name);
};

const Plan& ThePlan() {
  static const Plan plan;
  return plan;
}

// Shared with what is forked, so that one call in all of it has a number.
std::atomic<int>& Count() {
  static auto* const count = [] {
    const long page =
        syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return new (reinterpret_cast<void*>(page)) std::atomic<int>(0);
  }();
  return *count;
}

void Say(const std::string& line) {
  const std::string log(ThePlan().log);
  const long file = log.empty() ? 2
                                : syscall(SYS_openat, AT_FDCWD, log.c_str(),
                                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  (void)!syscall(SYS_write, file, line.data(), line.size());
  if (file > 2) syscall(SYS_close, file);
}

bool IsNamed(std::string_view names, std::string_view call) {
  const std::string all = " " + std::string(names) + " ";
  return names.empty() || all.find(" " + std::string(call) + " ") != std::string::npos;
}

// What the program would have called; the declaration gives the type.
template <typename Function>
Function* Next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Whether this call is to fail; sets errno then.
bool Fails(const char* call, std::string_view path, int error) {
  const int before = errno;
  const Plan& plan = ThePlan();
  if (!plan.is_meant || !path.starts_with(plan.folder) || !IsNamed(plan.calls, call)) return false;
  const int number = ++Count();
  const bool fails = plan.at > 0 && (number == plan.at || (plan.always && number > plan.at));
  if (fails && number == plan.at)
    Say("failed " + std::string(call) + " " + std::string(path) + "\n");
  if (plan.at == 0) Say("called " + std::string(call) + " " + std::string(path) + "\n");
  errno = fails ? error : before;
  return fails;
}

bool FailsOn(const char* call, int descriptor, int error) {
  return descriptor > 2 && Fails(call, PathOf(descriptor), error);
}

// `end` is where the last byte goes; at the end of the file if it is negative.
bool FailsToWrite(const char* call, int descriptor, size_t size, off_t end) {
  constexpr off_t kBlock = 512;
  struct stat info = {};
  if (ThePlan().always && Next(&fstat, "fstat")(descriptor, &info) == 0) {
    if (end < 0) end = info.st_size + static_cast<off_t>(size);
    if (end <= info.st_blocks * kBlock) return false;
  }
  return FailsOn(call, descriptor, ENOSPC);
}

mode_t ModeOf(va_list rest) { return va_arg(rest, mode_t); }

}  // namespace

// A call whose failure is the value `failure`; `is_failing` says whether it is to fail.
#define CALL(type, name, parameters, arguments, is_failing, failure) \
  type name parameters {                                             \
    if (is_failing) return failure;                                  \
    return Next(&name, #name) arguments;                             \
  }

#define OPEN(name)                                                                  \
  int name(const char* path, int flags, ...) {                                      \
    va_list rest;                                                                   \
    va_start(rest, flags);                                                          \
    const mode_t mode = ModeOf(rest);                                               \
    va_end(rest);                                                                   \
    const int error = (flags & O_CREAT) != 0 ? ENOSPC : EMFILE;                     \
    return Fails("open", path, error) ? -1 : Next(&name, #name)(path, flags, mode); \
  }

#define OPENAT(name)                                                                           \
  int name(int folder, const char* path, int flags, ...) {                                     \
    va_list rest;                                                                              \
    va_start(rest, flags);                                                                     \
    const mode_t mode = ModeOf(rest);                                                          \
    va_end(rest);                                                                              \
    return Fails("openat", path, EMFILE) ? -1 : Next(&name, #name)(folder, path, flags, mode); \
  }

extern "C" {

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
CALL(FILE*, fopen, (const char* path, const char* mode), (path, mode), Fails("fopen", path, EMFILE),
     nullptr)
CALL(FILE*, fopen64, (const char* path, const char* mode), (path, mode),
     Fails("fopen", path, EMFILE), nullptr)
CALL(DIR*, opendir, (const char* path), (path), Fails("opendir", path, EMFILE), nullptr)
CALL(DIR*, fdopendir, (int file), (file), FailsOn("fdopendir", file, ENOMEM), nullptr)
CALL(ssize_t, read, (int file, void* bytes, size_t size), (file, bytes, size),
     FailsOn("read", file, EIO), -1)
CALL(ssize_t, pread, (int file, void* bytes, size_t size, off_t at), (file, bytes, size, at),
     FailsOn("pread", file, EIO), -1)
CALL(ssize_t, pread64, (int file, void* bytes, size_t size, off64_t at), (file, bytes, size, at),
     FailsOn("pread", file, EIO), -1)
CALL(ssize_t, write, (int file, const void* bytes, size_t size), (file, bytes, size),
     FailsToWrite("write", file, size, -1), -1)
CALL(ssize_t, writev, (int file, const iovec* parts, int count), (file, parts, count),
     FailsOn("writev", file, ENOSPC), -1)
CALL(ssize_t, pwrite, (int file, const void* bytes, size_t size, off_t at), (file, bytes, size, at),
     FailsToWrite("pwrite", file, size, at + static_cast<off_t>(size)), -1)
CALL(ssize_t, pwrite64, (int file, const void* bytes, size_t size, off64_t at),
     (file, bytes, size, at), FailsToWrite("pwrite", file, size, at + static_cast<off_t>(size)), -1)
// These two give the error as their value.
CALL(int, posix_fallocate, (int file, off_t at, off_t size), (file, at, size),
     FailsOn("posix_fallocate", file, ENOSPC), ENOSPC)
CALL(int, posix_fallocate64, (int file, off64_t at, off64_t size), (file, at, size),
     FailsOn("posix_fallocate", file, ENOSPC), ENOSPC)
CALL(int, ftruncate, (int file, off_t size), (file, size), FailsOn("ftruncate", file, EIO), -1)
CALL(int, ftruncate64, (int file, off64_t size), (file, size), FailsOn("ftruncate", file, EIO), -1)
CALL(int, fstat, (int file, struct stat* info), (file, info), FailsOn("fstat", file, EIO), -1)
CALL(int, fstat64, (int file, struct stat64* info), (file, info), FailsOn("fstat", file, EIO), -1)
CALL(int, stat, (const char* path, struct stat* info), (path, info), Fails("stat", path, EIO), -1)
CALL(int, lstat, (const char* path, struct stat* info), (path, info), Fails("lstat", path, EIO), -1)
CALL(int, statx, (int folder, const char* path, int flags, unsigned mask, struct statx* info),
     (folder, path, flags, mask, info), Fails("statx", path, EIO), -1)
CALL(char*, realpath, (const char* path, char* found), (path, found), Fails("realpath", path, EIO),
     nullptr)
CALL(char*, getcwd, (char* path, size_t size), (path, size), Fails("getcwd", "", ENOENT), nullptr)
CALL(int, fsync, (int file), (file), FailsOn("fsync", file, ENOSPC), -1)
CALL(int, mkdir, (const char* path, mode_t mode), (path, mode), Fails("mkdir", path, ENOSPC), -1)
CALL(char*, mkdtemp, (char* path), (path), Fails("mkdtemp", path, ENOSPC), nullptr)
CALL(int, rename, (const char* from, const char* to), (from, to), Fails("rename", from, ENOSPC), -1)
CALL(int, renameat2,
     (int from_folder, const char* from, int to_folder, const char* to, unsigned flags),
     (from_folder, from, to_folder, to, flags), Fails("renameat2", from, ENOSPC), -1)
CALL(int, unlink, (const char* path), (path), Fails("unlink", path, EIO), -1)
CALL(int, unlinkat, (int folder, const char* name, int flags), (folder, name, flags),
     FailsOn("unlinkat", folder, ENOSPC), -1)
CALL(int, remove, (const char* path), (path), Fails("remove", path, EIO), -1)
CALL(int, rmdir, (const char* path), (path), Fails("rmdir", path, ENOSPC), -1)
CALL(int, access, (const char* path, int mode), (path, mode), Fails("access", path, EIO), -1)
CALL(int, chdir, (const char* path), (path), Fails("chdir", path, EIO), -1)
CALL(int, nftw, (const char* path, __nftw_func_t call, int files, int flags),
     (path, call, files, flags), Fails("nftw", path, EMFILE), -1)
CALL(int, flock, (int file, int operation), (file, operation), FailsOn("flock", file, ENOLCK), -1)
CALL(int, dup2, (int from, int to), (from, to), Fails("dup2", "", EMFILE), -1)
CALL(int, dup3, (int from, int to, int flags), (from, to, flags), Fails("dup3", "", EMFILE), -1)
CALL(int, pipe2, (int* ends, int flags), (ends, flags), Fails("pipe2", "", EMFILE), -1)
CALL(pid_t, fork, (), (), Fails("fork", "", EAGAIN), -1)
CALL(int, execvp, (const char* file, char* const* words), (file, words),
     Fails("execvp", "", ENOMEM), -1)
CALL(int, execvpe, (const char* file, char* const* words, char* const* variables),
     (file, words, variables), Fails("execvpe", "", ENOMEM), -1)
CALL(pid_t, waitpid, (pid_t process, int* status, int options), (process, status, options),
     Fails("waitpid", "", EINTR), -1)
CALL(int, waitid, (idtype_t kind, id_t process, siginfo_t* state, int options),
     (kind, process, state, options), Fails("waitid", "", EINTR), -1)
CALL(int, poll, (pollfd * files, nfds_t count, int milliseconds), (files, count, milliseconds),
     Fails("poll", "", EINTR), -1)
CALL(int, setpgid, (pid_t process, pid_t group), (process, group), Fails("setpgid", "", EPERM), -1)
CALL(int, unshare, (int flags), (flags), Fails("unshare", "", EPERM), -1)
CALL(int, mount,
     (const char* source, const char* target, const char* type, unsigned long flags,
      const void* data),
     (source, target, type, flags, data), Fails("mount", target, EPERM), -1)
CALL(void*, mmap, (void* at, size_t size, int rights, int flags, int file, off_t from),
     (at, size, rights, flags, file, from), Fails("mmap", "", ENOMEM), MAP_FAILED)
CALL(void*, mmap64, (void* at, size_t size, int rights, int flags, int file, off64_t from),
     (at, size, rights, flags, file, from), Fails("mmap", "", ENOMEM), MAP_FAILED)

int close(int descriptor) {
  const bool fails = FailsOn("close", descriptor, ENOSPC);
  const int result = Next(&close, "close")(descriptor);
  if (fails) errno = ENOSPC;
  return fails ? -1 : result;
}

}  // extern "C"
