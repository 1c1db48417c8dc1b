#include "checks/observe/launcher/child_calls.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace dlcheck {
namespace {

// "/proc/self/fd/7", without memory from the heap.
const char* LinkOf(int file, std::array<char, 32>& buffer) {
  constexpr std::string_view kFolder = "/proc/self/fd/";
  char* end = std::ranges::copy(kFolder, buffer.data()).out;
  std::array<char, 12> digits{};
  size_t count = 0;
  for (int rest = file; rest > 0 || count == 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  while (count > 0) *end++ = digits[--count];
  *end = '\0';
  return buffer.data();
}

// One text behind the other, without memory from the heap; empty if both are too long.
const char* Joined(const std::string& first, const char* second, std::array<char, 4096>& buffer) {
  const std::string_view rest = second;
  if (first.size() + rest.size() + 1 > buffer.size()) return "";
  char* end = std::ranges::copy(first, buffer.data()).out;
  *std::ranges::copy(rest, end).out = '\0';
  return buffer.data();
}

}  // namespace

void WriteAll(const char* path, std::string_view text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!write(file, text.data(), text.size());
  close(file);
}

bool CopyFile(const char* from, const char* to) {
  const int source = open(from, O_RDONLY | O_CLOEXEC);
  const int target = open(to, O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (source < 0 || target < 0) return false;
  std::array<char, 4096> part{};
  ssize_t got = 0;
  while ((got = read(source, part.data(), part.size())) > 0) {
    if (write(target, part.data(), static_cast<size_t>(got)) != got) return false;
  }
  close(source);
  return close(target) == 0 && got == 0;
}

bool Bind(int file, const char* target) {
  std::array<char, 32> link{};
  return file >= 0 && mount(LinkOf(file, link), target, nullptr, MS_BIND | MS_REC, nullptr) == 0;
}

bool MountLayer(const std::string& target, const std::string& options, bool is_superuser) {
  std::array<char, 4096> buffer{};
  for (const char* more : {is_superuser ? ",redirect_dir=on" : ",userxattr", ""}) {
    const char* all = Joined(options, more, buffer);
    if (mount("dlcheck", target.c_str(), "overlay", 0, all) == 0) return true;
  }
  return false;
}

}  // namespace dlcheck
