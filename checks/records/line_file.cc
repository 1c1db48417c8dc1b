#include "checks/records/line_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dlcheck {
namespace {

bool NeedsEscape(unsigned char c) { return c < 32 || c == '%' || c == 127; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

Failure SystemFailure(const std::string& what, const std::string& path) {
  const int error = errno;
  return {error == ENOENT ? Failure::Cause::kNotFound : Failure::Cause::kUnavailable,
          "cannot " + what + " '" + path + "': " + std::strerror(error)};
}

struct Closer {
  int file;
  ~Closer() { close(file); }
};

std::string CannotWrite(const std::string& path, int error) {
  return "cannot write '" + path + "': " + std::strerror(error);
}

// The file that a path leads to over its links; the path itself if that cannot be told.
std::string Followed(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  std::string followed = real == nullptr ? path : real;
  std::free(real);
  return followed;
}

// Leaves errno as the failing call set it.
Expected<Done> WriteInto(const std::string& path, std::string_view text, int flags, unsigned mode) {
  const int file = open(path.c_str(), flags | O_CLOEXEC, mode);
  if (file < 0) return SystemFailure("write", path);
  while (!text.empty()) {
    const ssize_t put = write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const Failure failure = SystemFailure("write", path);
      const int error = errno;
      close(file);
      errno = error;
      return failure;
    }
    text.remove_prefix(static_cast<size_t>(put));
  }
  if (close(file) != 0) return SystemFailure("write", path);
  return Done{};
}

}  // namespace

std::string EscapeField(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (NeedsEscape(byte)) {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out;
}

std::string UnescapeField(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
        HexDigit(text[i + 2]) >= 0) {
      out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string FormatLine(const std::vector<std::string_view>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += '\t';
    line += EscapeField(fields[i]);
  }
  line += '\n';
  return line;
}

std::vector<LineFields> ParseLines(std::string_view text) {
  std::vector<LineFields> lines;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', begin)) {
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    LineFields fields;
    size_t start = 0;
    while (true) {
      const size_t tab = line.find('\t', start);
      fields.push_back(UnescapeField(line.substr(start, tab - start)));
      if (tab == std::string_view::npos) break;
      start = tab + 1;
    }
    lines.push_back(std::move(fields));
  }
  return lines;
}

Expected<std::string> ReadWholeFile(const std::string& path, size_t limit_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return SystemFailure("open", path);
  const Closer closer{file};
  struct stat info = {};
  if (fstat(file, &info) != 0) return SystemFailure("read", path);
  if (!S_ISREG(info.st_mode)) {
    return Failure{Failure::Cause::kInvalid, "'" + path + "' is not a regular file"};
  }
  std::string text;
  char block[1 << 16];
  while (true) {
    const ssize_t got = read(file, block, sizeof(block));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemFailure("read", path);
    if (got == 0) return text;
    text.append(block, static_cast<size_t>(got));
    if (text.size() > limit_bytes) {
      return Failure{Failure::Cause::kInvalid,
                     "'" + path + "' is larger than " + std::to_string(limit_bytes) + " bytes"};
    }
  }
}

Expected<Done> WriteWholeFile(const std::string& path, std::string_view text, unsigned mode) {
  struct stat info = {};
  const bool is_there = stat(path.c_str(), &info) == 0;
  if (is_there && !S_ISREG(info.st_mode)) return WriteInto(path, text, O_WRONLY, 0);
  const std::string target = is_there ? Followed(path) : path;
  const std::string beside = target + "." + std::to_string(getpid()) + ".new";
  const unsigned given = is_there ? info.st_mode & 07777 : mode;
  const Expected<Done> written =
      WriteInto(beside, text, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, given);
  if (written.ok() && rename(beside.c_str(), target.c_str()) == 0) return Done{};
  const int error = errno;
  unlink(beside.c_str());
  // A folder that takes no new file may still hold one that can be written.
  const bool is_closed = error == EACCES || error == EPERM || error == EROFS;
  if (is_there && is_closed) return WriteInto(path, text, O_WRONLY | O_TRUNC, 0);
  if (!written.ok()) return Failure{written.failure().cause, CannotWrite(path, error)};
  return Failure{Failure::Cause::kUnavailable, CannotWrite(path, error)};
}

}  // namespace dlcheck
