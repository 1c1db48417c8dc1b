// `dlcheck suggest [DIR]`: prints a change of the program that would mend a finding, as a diff.
// Source is read by Python's own parser, in a process of its own that takes this one's place.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "diagnostics/cli/command_line.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/places.h"

namespace dlcheck::cli {
namespace {

// Isolated: neither the environment nor the folder at hand has a say in what is imported.
constexpr char kStart[] =
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import runpy; "
    "runpy.run_module('dlcheck_suggest', run_name='__main__', alter_sys=True)";

}  // namespace

int SuggestMain(const Words& words) {
  std::string path = "dlcheck-out";
  CommandLine line(
      "suggest [DIR]",
      "Prints a diff that mends the first finding of an earlier run for which a repair is known.");
  line.Value("DIR", "DIR", &path, "an output folder of dlcheck run (dlcheck-out)");
  if (const auto code = line.Parse(words)) return *code;
  const absl::StatusOr<std::string> folder = PythonFolder();
  if (!folder.ok()) return Refuse(folder.status());
  const std::string file = path + "/result.json";
  if (std::error_code error; !std::filesystem::exists(file, error)) {
    return Refuse(absl::NotFoundError(StrCat("there is no '", file, "'")));
  }
  execlp("python3", "python3", "-I", "-B", "-c", kStart, folder->c_str(), file.c_str(),
         static_cast<char*>(nullptr));
  return Refuse(absl::UnavailableError(StrCat("cannot start python3: ", std::strerror(errno))));
}

}  // namespace dlcheck::cli
