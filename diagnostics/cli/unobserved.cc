#include "diagnostics/cli/unobserved.h"

#include <algorithm>
#include <fstream>

#include "checks/engine/text.h"
#include "checks/observe/launcher/linked_torch.h"
#include "checks/records/request.h"
#include "diagnostics/cli/preload.h"
#include "diagnostics/fingerprint.h"

namespace dlcheck::cli {
namespace {

// "python", "python3", "/usr/bin/python3.11"
bool IsPython(const std::string& word) {
  const std::string name = BaseName(word);
  return name.starts_with("python") &&
         name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

// The first of I, E and S among an interpreter's own short options; 0 if there is none.
char Blinding(std::vector<std::string>::const_iterator word,
              std::vector<std::string>::const_iterator end) {
  for (; word != end && word->size() > 1 && (*word)[0] == '-' && (*word)[1] != '-'; ++word) {
    for (size_t i = 1; i < word->size(); ++i) {
      const char letter = (*word)[i];
      if (letter == 'I' || letter == 'E' || letter == 'S') return letter;
      if (letter == 'c' || letter == 'm') return 0;
      if (letter != 'W' && letter != 'X') continue;
      // These take the rest of the word, or the next one.
      if (i + 1 == word->size() && word + 1 != end) ++word;
      break;
    }
  }
  return 0;
}

// A program that reads the request by itself, as `dlcheck.watch` does for another process, needs
// nothing in its way.
bool ReadsRequest(const std::vector<std::string>& command) {
  return std::ranges::any_of(command, [](const std::string& word) {
    return word.find(kRequestVariable) != std::string::npos;
  });
}

// A program that is named by its path; what a shell looks up is a tool that starts others.
std::string WhyNotPreloaded(const std::vector<std::string>& command) {
  const std::string program = command.empty() ? "" : command.front();
  if (program.find('/') == std::string::npos || IsPython(program) || !NamesProgram(program)) {
    return "";
  }
  const Preload preload = PreloadFor(command);
  if (preload.torch.empty()) {
    return StrCat(program, " is not linked with a shared LibTorch. Link libtorch_cpu.so, or add ",
                  "the two lines of dlcheck/probe.h.");
  }
  if (!preload.gate.empty()) {
    return StrCat(program, " built no optimizer, and called backward() for no module whose ",
                  "parameters() were asked for: nothing trains");
  }
  return StrCat("there is no probe yet for ", preload.torch, ": `dlcheck probe ", program,
                "` builds it in half a minute");
}

}  // namespace

std::string WhyUnobserved(const std::vector<std::string>& command,
                          const std::vector<std::string>& run_folders) {
  for (const std::string& folder : run_folders) {
    std::ifstream file(folder + "/unwatched");
    std::string line;
    if (!std::getline(file, line)) continue;
    return StrCat("the probe could not start: ", line);
  }
  if (ReadsRequest(command)) return "";
  for (auto word = command.begin(); word != command.end(); ++word) {
    if (!IsPython(*word)) continue;
    const char letter = Blinding(word + 1, command.end());
    if (letter == 0) continue;
    return StrCat("python -", std::string(1, letter),
                  letter == 'S' ? " runs no sitecustomize" : " ignores PYTHONPATH",
                  ": not observed; use python -m dlcheck.run");
  }
  return WhyNotPreloaded(command);
}

}  // namespace dlcheck::cli
