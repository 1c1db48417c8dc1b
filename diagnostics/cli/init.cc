// `dlcheck init`: a commented dlcheck.toml for the project at hand.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "checks/engine/report.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "checks/records/visible.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 500;
constexpr uint64_t kMostBytes = 1 << 20;  // of a file that is looked at
constexpr int kDeepest = 4;               // folders
constexpr size_t kProgramsShown = 5;
constexpr char kFile[] = "dlcheck.toml";

// What a line of the program says about an intention that dlcheck can hold it to.
struct Intention {
  const char* key;
  const char* value;
  const char* meaning;
  std::vector<std::string> words;  // one of them in a line suggests it
};

const std::vector<Intention>& Intentions() {
  static const std::vector<Intention> all = {
      {"accumulation",
       "\"mean\"",
       "the gradient of a step is the mean over its micro-batches",
       {"accumulation", "accumulate"}},
      {"reduction", "\"mean\"", "the loss is a mean over the samples", {}},
      {"shuffle", "true", "the training data are shuffled in every epoch", {"shuffle=True"}},
      {"clip",
       "\"all\"",
       "clipping covers all parameters",
       {"clip_grad_norm_", "gradient_clip_val"}},
      {"documents",
       "\"apart\"",
       "documents packed in one row do not attend to each other",
       {"cu_seqlens", "packing"}}};
  return all;
}

// What was seen of the project.
struct Project {
  std::vector<std::string> programs;                       // files that train
  std::vector<std::pair<std::string, std::string>> signs;  // key of an intention, "train.py:23"
  size_t files = 0;
};

bool Has(const std::string& line, const std::vector<std::string>& words) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return line.find(word) != std::string::npos; });
}

void LookInto(const fs::path& file, const std::string& name, Project& project) {
  std::ifstream stream(file);
  bool trains = false, starts = false;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    trains = trains || Has(line, {".backward(", "Trainer(", ".fit("});
    starts = starts || Has(line, {"__main__", "argparse", "sys.argv"});
    for (const Intention& one : Intentions()) {
      const bool known = std::ranges::any_of(
          project.signs, [&](const auto& sign) { return sign.first == one.key; });
      if (!known && Has(line, one.words)) {
        project.signs.emplace_back(one.key, StrCat(name, ":", number));
      }
    }
  }
  if (trains && starts) project.programs.push_back(name);
}

// Folders that hold no programs of the project's own.
bool IsForeign(const std::string& name) {
  return name.starts_with(".") || name.starts_with("dlcheck-out") || name == "venv" ||
         name == "build" || name == "node_modules" || name == "site-packages";
}

Project LookAt(const fs::path& folder) {
  Project project;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(
      folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code unknown;
    if (entry->is_directory(unknown)) {
      const bool is_left_out = IsForeign(path.filename().string()) || entry.depth() + 1 >= kDeepest;
      if (is_left_out) entry.disable_recursion_pending();
      continue;
    }
    const bool is_program = path.extension() == ".py" && entry->is_regular_file(unknown) &&
                            entry->file_size(unknown) <= kMostBytes;
    if (!is_program) continue;
    if (++project.files > kMostFiles) break;
    LookInto(path, path.lexically_relative(folder).string(), project);
  }
  std::ranges::sort(project.programs);
  return project;
}

// Every key stands in it, as a comment: what a user uncomments holds.
std::string ConfigurationFor(const Project& project) {
  std::string text =
      "# dlcheck reads this file from its folder and the folders below it. Each line that begins "
      "with\n"
      "# `#key` is a setting: take the # away. `dlcheck run --help` lists what a single run may "
      "change.\n\n"
      "#fail_on = \"warning\"  # note, warning or error (error): findings that make the exit code "
      "1\n"
      "#require = [\"optimizer/stale_gradients\"]  # exit 4 if one of these reaches no verdict\n"
      "#ignore = [\"performance/*\"]  # checks that are not judged\n"
      "#select = [\"optimizer/*\"]  # judge only these\n"
      "#baseline = \"dlcheck-baseline.json\"  # known findings: `dlcheck accept > "
      "dlcheck-baseline.json`\n"
      "#output_dir = \"dlcheck-out\"\n"
      "#deep_timeout = 600  # seconds for all experiments of --deep\n\n"
      "# What you intend: the opposite becomes an error, and what you declare gives no note.\n"
      "#[declare]\n";
  for (const Intention& one : Intentions()) {
    StrAppend(&text, "#", one.key, " = ", one.value, "  # ", one.meaning);
    for (const auto& [key, place] : project.signs) {
      if (key == one.key) StrAppend(&text, "; see ", Visible(place));
    }
    text += "\n";
  }
  return text +
         "\n# Limits of a run.\n#[budget]\n#memory = \"2 GiB\"\n#step_time = 0.25  # seconds\n"
         "#host_device_sync = 0.1  # reads of accelerator values by the host, per step\n\n"
         "# A finding that stays, with the reason; `expires` is optional.\n#[[suppress]]\n"
         "#check = \"training_loop/*\"\n#place = \"legacy_train.py\"\n"
         "#reason = \"removed together with the old trainer\"\n#expires = 2030-01-31\n";
}

}  // namespace

int InitMain(const Words& words) {
  CommandLine line("init",
                   "Looks at the programs of this folder, and writes a commented dlcheck.toml.");
  if (const auto code = line.Parse(words)) return *code;
  std::error_code unknown;
  if (fs::exists(fs::symlink_status(kFile, unknown))) {
    return Refuse(absl::InvalidArgumentError(StrCat("there is a ", kFile, " already")));
  }
  const Project project = LookAt(fs::current_path(unknown));
  const Expected<Done> written = WriteWholeFile(kFile, ConfigurationFor(project));
  if (!written.ok()) return Refuse(absl::UnavailableError(written.failure().message));
  std::printf("%s is written: all its settings are comments.\n", kFile);
  if (project.programs.empty()) {
    std::printf(
        "No Python program here trains. Yours is watched by\n"
        "  dlcheck run -- python train.py\n");
    return kExitClean;
  }
  std::printf("Programs that train:\n");
  for (size_t i = 0; i < std::min(kProgramsShown, project.programs.size()); ++i) {
    std::printf("  dlcheck run -- python %s\n", Visible(project.programs[i]).c_str());
  }
  return kExitClean;
}

}  // namespace dlcheck::cli
