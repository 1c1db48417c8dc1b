#include "checks/observe/launcher/linked_torch.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "checks/engine/text.h"
#include "checks/observe/launcher/child_output.h"

namespace dlcheck {
namespace {

constexpr size_t kMostWords = 16;  // that may name the program
constexpr absl::Duration kMostTime = absl::Seconds(10);
constexpr size_t kMostOutput = size_t{1} << 20;
constexpr char kArrow[] = " => ";
constexpr char kLibrary[] = "/libtorch_cpu.so";

bool IsProgram(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  if (access(path.c_str(), X_OK) != 0) return false;
  char magic[SELFMAG] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
  return memcmp(magic, ELFMAG, SELFMAG) == 0;
}

// As a shell finds it; empty if it is no program.
std::string ProgramNamed(const std::string& word) {
  if (word.find('/') != std::string::npos) return IsProgram(word) ? word : "";
  const char* folders = getenv("PATH");
  const std::vector<std::string> all = absl::StrSplit(folders == nullptr ? "" : folders, ':');
  for (const std::string& folder : all) {
    const std::string path = StrCat(folder, "/", word);
    if (!word.empty() && IsProgram(path)) return path;
  }
  return "";
}

std::string TorchOf(const std::string& program) {
  const absl::StatusOr<std::string> listed =
      OutputOf({program}, {"LD_TRACE_LOADED_OBJECTS=1"}, kMostTime, kMostOutput);
  if (!listed.ok()) return "";
  const std::vector<std::string> lines = absl::StrSplit(*listed, '\n');
  for (const std::string& line : lines) {
    const size_t arrow = line.find(kArrow);
    if (arrow == std::string::npos) continue;
    const std::string path = line.substr(arrow + strlen(kArrow));
    const size_t end = path.find(" (");
    if (path.substr(0, end).ends_with(kLibrary)) return path.substr(0, end);
  }
  return "";
}

}  // namespace

std::string LinkedTorch(const std::vector<std::string>& command) {
  for (size_t i = 0; i < command.size() && i < kMostWords; ++i) {
    const std::string program = ProgramNamed(command[i]);
    if (program.empty()) continue;
    std::string torch = TorchOf(program);
    if (!torch.empty()) return torch;
  }
  return "";
}

bool NamesProgram(const std::string& word) { return !ProgramNamed(word).empty(); }

std::string BuildIdOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header))) return "";
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "";
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) part{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff) + i * header.e_phentsize);
    if (!file.read(reinterpret_cast<char*>(&part), sizeof(part))) return "";
    if (part.p_type != PT_NOTE || part.p_filesz > kMostOutput) continue;
    std::string notes(part.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    if (!file.read(notes.data(), static_cast<std::streamsize>(notes.size()))) return "";
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= notes.size();) {
      ElfW(Nhdr) note{};
      memcpy(&note, notes.data() + at, sizeof(note));
      const auto aligned = [](size_t count) { return (count + 3) & ~size_t{3}; };
      const size_t content = at + sizeof(note) + aligned(note.n_namesz);
      if (content + note.n_descsz > notes.size()) break;
      if (note.n_type == NT_GNU_BUILD_ID) {
        return absl::BytesToHexString(notes.substr(content, note.n_descsz));
      }
      at = content + aligned(note.n_descsz);
    }
  }
  return "";
}

}  // namespace dlcheck
