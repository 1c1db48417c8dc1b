// `dlcheck doctor [PYTHON]`: whether dlcheck works on this machine, tried on a small program.
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "checks/catalog/catalog.h"
#include "checks/observe/launcher/network.h"
#include "checks/records/line_file.h"
#include "checks/records/version.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/places.h"
#include "diagnostics/cli/quiet_child.h"
#include "diagnostics/cli/reach.h"
#include "diagnostics/cli/result_file.h"
#include "diagnostics/cli/terminal.h"
#include "diagnostics/render/layout.h"

namespace dlcheck::cli {
namespace {

constexpr uint64_t kLeastSharedMemory = uint64_t{64} << 20;  // a few batches of small pictures
constexpr uint64_t kLeastDisk = uint64_t{1} << 30;           // records of four processes
constexpr uint64_t kLeastFileSize = uint64_t{256} << 20;     // records of one process
constexpr uint64_t kFewestFiles = 1024;
constexpr size_t kMostFactBytes = 1 << 16;
constexpr int64_t kSteps = 3;  // of the program below

// Says what torch is, and trains.
constexpr char kProgram[] = R"(import platform, sys
with open(sys.argv[1], "w") as file:
    print("python", platform.python_version(), sep="\t", file=file, flush=True)
    import torch
    print("torch", torch.__version__, sep="\t", file=file)
    print("abi", "C++11" if torch._C._GLIBCXX_USE_CXX11_ABI else "pre-C++11", sep="\t", file=file)
    print("gpu", torch.cuda.get_device_name() if torch.cuda.is_available() else "", sep="\t", file=file)
torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(2, (8,))).backward()
    optimizer.step()
)";

enum class State : uint8_t { kOk, kNote, kLacks };

struct Line {
  State state;
  std::string text;
};

std::string Mebibytes(uint64_t bytes) { return StrCat(bytes >> 20, " MiB"); }

// "torch" to "2.11.0"; empty where the program did not come so far.
using Facts = std::map<std::string, std::string>;

Facts FactsIn(const std::string& file) {
  Facts facts;
  const Expected<std::string> text = ReadWholeFile(file, kMostFactBytes);
  if (!text.ok()) return facts;
  for (const LineFields& fields : ParseLines(*text)) {
    if (fields.size() == 2) facts[fields[0]] = fields[1];
  }
  return facts;
}

// Steps of the small program that were recorded; -1 where there is no result.
int64_t StepsIn(const std::string& result_file) {
  const Expected<std::string> json = ReadWholeFile(result_file, kMostResultBytes);
  if (!json.ok()) return -1;
  const absl::StatusOr<ReadResult> read = ResultFrom(*json);
  return read.ok() ? read->report.coverage.steps : -1;
}

// What became of the small program; an error where there is no folder for it.
struct Tried {
  Facts facts;
  int64_t steps = -1;
};

absl::StatusOr<Tried> TryOn(const std::string& python) {
  std::error_code unknown;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(unknown);
  std::string folder = temporary.string() + "/dlcheck-doctor-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(
        StrCat("no program was tried: ", temporary.string(), " cannot be written"));
  }
  const std::string facts_file = StrCat(folder, "/facts"), out = StrCat(folder, "/out");
  const absl::StatusOr<int> code =
      RunQuietly({SiblingBinary("dlcheck"), "run", "--no-live", "--timeout", "300", "--output-dir",
                  out, "--", python, "-c", kProgram, facts_file});
  const Tried tried{FactsIn(facts_file), StepsIn(out + "/result.json")};
  std::filesystem::remove_all(folder, unknown);
  return code.ok() ? absl::StatusOr<Tried>(tried) : code.status();
}

void AddPython(const std::string& python, std::vector<Line>& lines) {
  absl::StatusOr<Tried> tried = TryOn(python);
  if (!tried.ok()) {
    lines.push_back({State::kLacks, std::string(tried.status().message())});
    return;
  }
  Facts& facts = tried->facts;
  const int64_t steps = tried->steps;
  if (facts["python"].empty()) {
    lines.push_back({State::kLacks, StrCat("'", python,
                                           "' does not start as a Python: name yours, as in "
                                           "`dlcheck doctor .venv/bin/python`")});
    return;
  }
  if (facts["torch"].empty()) {
    lines.push_back({State::kLacks, StrCat(python, ": Python ", facts["python"],
                                           ", which cannot import torch: install it, or name "
                                           "another Python, as in `dlcheck doctor PYTHON`")});
    return;
  }
  lines.push_back({State::kOk, StrCat(python, ": Python ", facts["python"], ", torch ",
                                      facts["torch"], ", ", facts["abi"], " ABI")});
  lines.push_back({State::kOk, facts["gpu"].empty() ? "torch sees no GPU: training is on the CPU"
                                                    : StrCat("GPU: ", facts["gpu"])});
  if (steps == kSteps) {
    lines.push_back(
        {State::kOk, "a small training program was watched from its first to its last step"});
  } else {
    lines.push_back({State::kLacks,
                     StrCat("a small training program of ", kSteps, " steps was started, and ",
                            std::max<int64_t>(steps, 0), " were recorded: does something replace ",
                            "PYTHONPATH or sitecustomize?")});
  }
}

void AddSpace(const char* path, std::string_view what, uint64_t least, std::string_view remedy,
              std::vector<Line>& lines) {
  struct statvfs space {};
  if (statvfs(path, &space) != 0) {
    lines.push_back({State::kLacks, StrCat(what, " is not there: ", remedy)});
    return;
  }
  const uint64_t free = uint64_t{space.f_bavail} * space.f_frsize;
  const std::string size = StrCat(what, " has ", Mebibytes(free), " free");
  lines.push_back(free >= least ? Line{State::kOk, size}
                                : Line{State::kNote, StrCat(size, ": ", remedy)});
}

void AddLimits(std::vector<Line>& lines) {
  rlimit files{}, size{};
  getrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_FSIZE, &size);
  if (files.rlim_cur < kFewestFiles) {
    lines.push_back({State::kNote, StrCat("a process may open only ", files.rlim_cur,
                                          " files: raise it with `ulimit -n`")});
  }
  if (size.rlim_cur < kLeastFileSize) {
    lines.push_back({State::kNote, StrCat("a file may have only ", Mebibytes(size.rlim_cur),
                                          ": records of a long run may not fit (`ulimit -f`)")});
  }
}

void AddIsolation(std::vector<Line>& lines) {
  lines.push_back(
      CanHavePrivateFiles()
          ? Line{State::kOk, "--deep: files that experiments write are private copies"}
          : Line{State::kNote,
                 "--deep: only files that Python opens are private copies, because this "
                 "system allows no user namespaces with overlay mounts"});
  lines.push_back(CanCutNetwork()
                      ? Line{State::kOk, "--deep: experiments reach no network but loopback"}
                      : Line{State::kNote,
                             "--deep: experiments reach the network, because this "
                             "system allows no network namespaces"});
  const bool trains = access(SiblingBinary("dlcheck-train").c_str(), X_OK) == 0;
  lines.push_back(trains ? Line{State::kOk, "dlcheck-train is there, which `dlcheck check` needs"}
                         : Line{State::kNote,
                                "dlcheck-train is not there, which `dlcheck check` "
                                "needs: it comes with a build of the whole tree"});
}

std::string Render(const std::vector<Line>& lines) {
  int lacks = 0, notes = 0;
  std::string rows;
  for (const auto& [state, text] : lines) {
    lacks += state == State::kLacks;
    notes += state == State::kNote;
    rows += Row(state == State::kOk ? "  ok" : state == State::kNote ? "note" : "error", text);
  }
  const std::string head = lacks > 0   ? "dlcheck does not work here yet."
                           : notes > 0 ? StrCat("dlcheck works here, with ", notes, " limits.")
                                       : "dlcheck works here.";
  return Row("dlcheck", head) + rows;
}

}  // namespace

int DoctorMain(const Words& words) {
  std::string python = "python3", color = "auto";
  CommandLine line(
      "doctor [OPTIONS] [PYTHON]",
      "Tries dlcheck on a small training program, and lists what this machine allows.");
  line.Value("PYTHON", "PYTHON", &python, "the interpreter of your programs (python3)");
  AddColorOption(line, color);
  if (const auto code = line.Parse(words)) return *code;
  std::vector<Line> lines = {
      {State::kOk, StrCat("dlcheck ", kVersion, ", ", Catalog().size(), " checks, ",
                          std::thread::hardware_concurrency(), " processors")}};
  AddPython(python, lines);
  AddSpace("/dev/shm", "/dev/shm", kLeastSharedMemory,
           "loader workers pass batches through it; containers set it with --shm-size", lines);
  AddSpace(".", "the disk of this folder", kLeastDisk, "a run records up to 256 MiB a process",
           lines);
  AddLimits(lines);
  AddIsolation(lines);
  Print(
      stdout, [&] { return Render(lines); }, color);
  for (const Line& one : lines) {
    if (one.state == State::kLacks) return kExitFindings;
  }
  return kExitClean;
}

}  // namespace dlcheck::cli
