// What a check is: metadata and a judgement, as one value. A check is a pure function of recorded
// evidence; it knows no torch, clock, file, random number or process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/evidence.h"
#include "checks/records/names.h"

namespace dlcheck {

enum class Severity : uint8_t { kNote, kWarning, kError };
// What an example comes to: nothing, or findings of which the worst is this severe.
enum class Expect : uint8_t { kClean, kNote, kWarning, kError };

// Where a finding is; fields that do not apply stay empty or negative.
struct Place {
  std::string thing;  // "fc1.weight"
  int rank = -1;
  std::string file;
  int line = 0;
  bool operator==(const Place&) const = default;
};

struct Finding {
  Severity severity;
  std::string message;        // one sentence with the number in it
  std::vector<Place> places;  // every instance; empty for the whole run
  int64_t first_step, last_step, count;
  double measured, bound;  // in the unit named by the message
  // What led to it, the origin first: "log (head)", "neg (head)", "mean". Mostly empty.
  std::vector<std::string> chain = {};
};

struct Verdict {
  std::vector<Finding> findings;
  std::string judged;  // "140 of 148 parameters, 212 of 10,000 steps"
};

struct Setting {
  std::string_view name;
  double value, low, high;
  std::string_view unit, meaning, source;
};

// A check's own settings, with what the user changed.
class Settings {
 public:
  Settings() = default;
  explicit Settings(std::map<std::string, double, std::less<>> changed)
      : changed_(std::move(changed)) {}
  double operator[](const Setting& setting) const;

 private:
  std::map<std::string, double, std::less<>> changed_;
};

// An optional need of another experiment is met only while the check does not pass without it.
struct Need {
  Experiment experiment;
  std::string_view signal;
  bool optional;
};

struct Judgement {
  std::vector<Need> needs;
  absl::StatusOr<Verdict> (*judge)(const Settings&, const Evidence&);
};

struct Example {
  std::string_view title;
  Expect expect;
  Evidence (*evidence)();
  std::map<std::string, double, std::less<>> settings = {};  // those changed for it
};

// When a check is silent and when its finding may be intended; a part that does not apply is empty.
struct Limits {
  std::string_view needs;        // what the program or the run must offer
  std::string_view silent_when;  // conditions under which a fault of this kind is not reported
  std::string_view severity;     // which case is an error, a warning or a note
  std::string_view blind_spots;  // faults of this kind that it cannot see
  std::string_view sensitivity;  // the smallest fault that it was measured to find
};

// Three to eight lines of a training program with the fault, and the same lines without it.
struct Snippets {
  std::string_view bad, good;
};

struct Check {               // every field is written; none has a default
  std::string_view id;       // its path: "optimizer/stale_gradients"
  std::string_view title;    // the fault in at most 50 characters: "zero_grad() is never called"
  std::string_view promise;  // a sentence true of every healthy program
  std::string_view why;      // what goes wrong otherwise
  std::string_view method;   // what is compared with what
  std::string_view fix;      // names a call or a line
  Limits limits;
  Snippets python, cpp;  // in C++ where that differs; else empty
  std::vector<std::string_view> sources;
  std::vector<std::string_view> covers;    // names in docs/faults.md
  std::vector<std::string_view> explains;  // checks that also fail when this one does
  Severity worst;
  bool live;  // a finding on a prefix of a run is never withdrawn
  // Whose line of the program a finding gets that has none of its own; nothing where no line is to
  // blame.
  std::optional<Event> stands_at;
  std::vector<Event> also_at = {};  // further events whose lines belong to what is to be mended
  std::vector<Setting> settings;
  Judgement judgement;
  std::vector<Example> examples;
};

std::string_view SeverityName(Severity severity);

// "optimizer" of "optimizer/stale_gradients".
std::string_view AreaOf(std::string_view id);

}  // namespace dlcheck

// Compiled once, in check.cc, and not in each of a hundred checks.
extern template class std::vector<dlcheck::Place>;
extern template class std::vector<dlcheck::Finding>;
extern template class std::vector<dlcheck::Setting>;
extern template class std::vector<dlcheck::Example>;
extern template class std::map<std::string, double, std::less<>>;
