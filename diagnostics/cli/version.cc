// `dlcheck version [--json]`: this tool's version and what it was built with.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "checks/engine/report.h"
#include "checks/records/record.h"
#include "checks/records/version.h"
#include "diagnostics/cli/build_facts.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"

namespace dlcheck::cli {

int VersionMain(const Words& words) {
  bool json = false;
  CommandLine line("version [OPTIONS]", "Prints versions.");
  line.Flag("--json", &json, "as a JSON object");
  if (const auto code = line.Parse(words)) return *code;
  const nlohmann::ordered_json facts = {
      {"dlcheck", kVersion},
      {"record_format", std::to_string(kFormatMajor) + "." + std::to_string(kFormatMinor)},
      {"compiler", __VERSION__},
      {"cxx11_abi", _GLIBCXX_USE_CXX11_ABI == 1},
      {"libtorch", kLibTorchVersion},
      {"hdf5", kHdf5Version},
      {"cuda", kCudaFound},
  };
  if (json) {
    std::printf("%s\n", facts.dump(2).c_str());
    return kExitClean;
  }
  for (const auto& [name, value] : facts.items()) {
    std::printf("%-14s %s\n", name.c_str(),
                value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
  }
  return kExitClean;
}

}  // namespace dlcheck::cli
