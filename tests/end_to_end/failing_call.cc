// Preloaded into a program: lets the n-th system call that touches a file below a folder fail.
//   FAIL_UNDER  the folder
//   FAIL_AT     n, from 1
// Says on standard error which call it was; says nothing if there were fewer.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::string PathOf(int descriptor) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), path, sizeof(path));
  return length < 0 ? "" : std::string(path, static_cast<size_t>(length));
}

bool Fails(const char* call, const std::string& path) {
  static std::atomic<int> count = 0;
  static const char* const folder = std::getenv("FAIL_UNDER");
  static const char* const at = std::getenv("FAIL_AT");
  if (folder == nullptr || at == nullptr || path.rfind(folder, 0) != 0) return false;
  if (++count != std::atoi(at)) return false;
  const std::string line = "failed " + std::string(call) + " " + path + "\n";
  (void)!syscall(SYS_write, 2, line.data(), line.size());
  errno = ENOSPC;
  return true;
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (Fails("open", path)) return -1;
  return Next<int(const char*, int, ...)>("open")(path, flags, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (descriptor > 2 && Fails("write", PathOf(descriptor))) return -1;
  return Next<ssize_t(int, const void*, size_t)>("write")(descriptor, bytes, size);
}

int fsync(int descriptor) {
  if (Fails("fsync", PathOf(descriptor))) return -1;
  return Next<int(int)>("fsync")(descriptor);
}

int close(int descriptor) {
  const bool fails = descriptor > 2 && Fails("close", PathOf(descriptor));
  const int result = Next<int(int)>("close")(descriptor);
  if (fails) errno = ENOSPC;
  return fails ? -1 : result;
}

int mkdir(const char* path, mode_t mode) {
  if (Fails("mkdir", path)) return -1;
  return Next<int(const char*, mode_t)>("mkdir")(path, mode);
}

int rename(const char* from, const char* to) {
  if (Fails("rename", from)) return -1;
  return Next<int(const char*, const char*)>("rename")(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  if (Fails("renameat2", from)) return -1;
  return Next<int(int, const char*, int, const char*, unsigned)>("renameat2")(
      from_folder, from, to_folder, to, flags);
}

int unlinkat(int folder, const char* name, int flags) {
  if (Fails("unlinkat", PathOf(folder))) return -1;
  return Next<int(int, const char*, int)>("unlinkat")(folder, name, flags);
}

int rmdir(const char* path) {
  if (Fails("rmdir", path)) return -1;
  return Next<int(const char*)>("rmdir")(path);
}

}  // extern "C"
