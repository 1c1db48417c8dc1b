// What a run leaves behind: records, names, request, ending, losses. All is read, judged and shown.
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "checks/catalog/catalog.h"
#include "checks/engine/evidence.h"
#include "checks/engine/runner.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/checked_lines.h"
#include "diagnostics/render/render.h"
#include "tests/fuzz/promises.h"
#include "tests/fuzz/sealed.h"
#include "tests/fuzz/targets.h"

namespace dlcheck::fuzz {
namespace {

constexpr char kNames[] =
    "format\t2.0\nwriter\tpython\t1\nevent\t2\tstep\nevent\t4\tbackward\nquantity\t1\tloss\n"
    "quantity\t3\tgradient_norm\nthing\t1\tparameter\t0\tweight\nthing\t2\toptimizer\t0\tSGD\n"
    "thing\t3\tloss\t0\tmse_loss\nsite\t1\ttrain.py\t3\tmain\n";

std::vector<const Check*> AllChecks() {
  std::vector<const Check*> checks;
  for (const Check& check : Catalog()) checks.push_back(&check);
  return checks;
}

void RequireShown(const Report& report) {
  Frame frame;
  frame.command = {"python", "train.py"};
  frame.with_reasons = true;
  RequireVisible(RenderText(report, frame));
  Require(!nlohmann::json::parse(RenderJson(report, frame), nullptr, false).is_discarded(),
          "the result is JSON");
  (void)RenderJunit(report, frame);
  (void)RenderGithub(report);
}

void ReadAndJudge(const std::string& run_folder) {
  static const std::vector<const Check*> checks = AllChecks();
  absl::StatusOr<RecordedRun> read = ReadRecordedRun(run_folder);
  if (!read.ok()) return;
  Evidence evidence;
  evidence.Add(read->experiment, std::move(read->run));
  RequireShown(JudgeAll(evidence, checks, {}));
}

// The folder of a run with these two files and no other.
std::string RunFolder(std::string_view records, std::string_view names) {
  const std::string path = FileWith(records, "run/records/1-0.records");
  FileWith(names, "run/records/1-0.names");
  const std::string folder = path.substr(0, path.find("/records/"));
  for (const char* other : {"/request", "/ending", "/losses"}) {
    std::remove((folder + other).c_str());
  }
  return folder;
}

}  // namespace

// The first byte says whether sums are made right, the next four how many bytes of names follow;
// the rest are records.
void ReadRecordFile(std::string_view bytes) {
  constexpr size_t kHead = 5;
  if (bytes.size() < kHead) return;
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 1, sizeof(length));
  const bool is_sealed = bytes[0] % 2 != 0;
  bytes.remove_prefix(kHead);
  const std::string_view names = bytes.substr(0, length);
  const std::string_view records = bytes.substr(names.size());
  ReadAndJudge(RunFolder(is_sealed ? Sealed(records, names) : std::string(records), names));
}

void ReadNamesFile(std::string_view bytes) {
  ReadAndJudge(RunFolder(Sealed(SmallRecords(), bytes), bytes));
}

// The first byte says which of the small files it is, and whether its check is made right.
void ReadRunFiles(std::string_view bytes) {
  constexpr const char* kFiles[] = {"request", "ending", "losses"};
  if (bytes.empty()) return;
  const auto kind = static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(1);
  const std::string folder = RunFolder(Sealed(SmallRecords(), kNames), kNames);
  const bool is_checked = kind % 2 != 0;
  FileWith(is_checked ? WithCheck(std::string(bytes)) : std::string(bytes),
           std::string("run/") + kFiles[kind / 2 % 3]);
  ReadAndJudge(folder);
}

}  // namespace dlcheck::fuzz
