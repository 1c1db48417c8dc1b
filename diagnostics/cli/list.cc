// `dlcheck list [--json]`: all checks, a line each.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "checks/catalog/catalog.h"
#include "checks/engine/report.h"
#include "checks/engine/text.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"

namespace dlcheck::cli {
namespace {

bool NeedsDeep(const Check& check) {
  for (const Need& need : check.judgement.needs) {
    if (need.experiment != kPlain && !need.optional) return true;
  }
  return false;
}

std::string AsJson() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Check& check : Catalog()) {
    nlohmann::ordered_json settings = nlohmann::ordered_json::array();
    for (const Setting& setting : check.settings) {
      settings.push_back({{"name", setting.name},
                          {"value", setting.value},
                          {"low", setting.low},
                          {"high", setting.high},
                          {"unit", setting.unit},
                          {"meaning", setting.meaning}});
    }
    list.push_back({{"id", check.id},
                    {"title", check.title},
                    {"severity", SeverityName(check.worst)},
                    {"promise", check.promise},
                    {"fix", check.fix},
                    {"deep", NeedsDeep(check)},
                    {"live", check.live},
                    {"covers", check.covers},
                    {"explains", check.explains},
                    {"settings", settings}});
  }
  return list.dump(2) + "\n";
}

}  // namespace

int ListMain(const Words& words) {
  bool json = false;
  CommandLine line("list [OPTIONS]", "Lists all checks.");
  line.Flag("--json", &json, "as a JSON list");
  if (const auto code = line.Parse(words)) return *code;
  if (json) {
    std::fputs(AsJson().c_str(), stdout);
    return kExitClean;
  }
  for (const Check& check : Catalog()) {
    std::printf("%-42s %-8s %-6s %s\n", std::string(check.id).c_str(),
                std::string(SeverityName(check.worst)).c_str(), NeedsDeep(check) ? "--deep" : "",
                std::string(check.title).c_str());
  }
  return kExitClean;
}

}  // namespace dlcheck::cli
