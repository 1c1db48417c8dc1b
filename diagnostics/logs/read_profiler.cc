// A trace of the PyTorch profiler (export_chrome_trace). Source: the trace event format of Chrome,
// and the categories of events in libkineto's output_json.cpp.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "absl/strings/numbers.h"
#include "checks/engine/text.h"
#include "diagnostics/logs/log.h"
#include "diagnostics/logs/step_names.h"

namespace dlcheck {
namespace {

using TraceJson = nlohmann::json;

constexpr double kMicroseconds = 1e-6;
constexpr size_t kMostShares = 8;  // kernels or operators with a row each

struct Span {
  double begin = 0, end = 0;  // s
};

struct Operator {
  Span span;
  int64_t thread = 0;
  std::string name;
};

struct ProfilerTrace {
  std::map<int64_t, Span> steps;  // by number
  std::vector<Operator> kernels, operators;
  std::vector<double> waits;  // when the host began to wait for the accelerator
  bool is_trace = false;
};

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> some) {
  return std::ranges::find(some, name) != some.end();
}

std::string TextOf(const TraceJson& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

double NumberOf(const TraceJson& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : 0;
}

// Calls of the runtime in which the host waits; a copy waits unless it is asynchronous.
bool Waits(const std::string& name) {
  return name.find("Synchronize") != std::string::npos ||
         (name.find("Memcpy") != std::string::npos && name.find("Async") == std::string::npos);
}

void Take(const TraceJson& event, ProfilerTrace& trace) {
  const std::string category = TextOf(event, "cat");
  if (TextOf(event, "ph") != "X" || category.empty()) return;
  trace.is_trace = true;
  const double begin = NumberOf(event, "ts") * kMicroseconds;
  Operator one{.span = {begin, begin + NumberOf(event, "dur") * kMicroseconds},
               .thread = static_cast<int64_t>(NumberOf(event, "tid")),
               .name = TextOf(event, "name")};
  constexpr std::string_view kStep = "ProfilerStep#";
  int64_t number = 0;
  if (one.name.starts_with(kStep) && absl::SimpleAtoi(one.name.substr(kStep.size()), &number)) {
    if (category == "user_annotation") trace.steps[number] = one.span;
  } else if (IsOneOf(category, {"kernel", "gpu_memcpy", "gpu_memset"})) {
    trace.kernels.push_back(std::move(one));
  } else if (category == "cpu_op") {
    trace.operators.push_back(std::move(one));
  } else if (IsOneOf(category, {"cuda_runtime", "cuda_driver", "hip_runtime"}) && Waits(one.name)) {
    trace.waits.push_back(begin);
  }
}

double BeginOf(const Operator& one) { return one.span.begin; }

// The part of each span that lies in none of those that it encloses in its thread: an operator's
// own time. Seconds by name and step.
using Shares = std::map<std::string, std::map<int64_t, double>>;

std::optional<int64_t> StepAt(double time, const ProfilerTrace& trace) {
  for (const auto& [number, span] : trace.steps) {
    if (time >= span.begin && time < span.end) return number;
  }
  return std::nullopt;
}

Shares OwnTimes(std::vector<Operator> all, const ProfilerTrace& trace) {
  std::ranges::sort(all, [](const Operator& one, const Operator& other) {
    return std::tuple(one.thread, one.span.begin, -one.span.end) <
           std::tuple(other.thread, other.span.begin, -other.span.end);
  });
  Shares shares;
  std::vector<const Operator*> open;  // each encloses the next
  for (const Operator& one : all) {
    while (!open.empty() &&
           (open.back()->thread != one.thread || open.back()->span.end <= one.span.begin)) {
      open.pop_back();
    }
    const std::optional<int64_t> step = StepAt(one.span.begin, trace);
    if (step) {
      const double time = one.span.end - one.span.begin;
      shares[one.name][*step] += time;
      if (!open.empty()) shares[open.back()->name][*step] -= time;
    }
    open.push_back(&one);
  }
  return shares;
}

// Seconds within `step` that at least one span covers.
double Covered(const std::vector<Operator>& sorted, const Span& step) {
  double covered = 0, end = step.begin;
  for (const Operator& one : sorted) {
    const double begin = std::max(one.span.begin, end);
    const double stop = std::min(one.span.end, step.end);
    if (stop <= begin) continue;
    covered += stop - begin;
    end = stop;
  }
  return covered;
}

// The names that take most time, as shares of all time in kernels, or of operators without them.
void AddShares(const ProfilerTrace& trace, Log& log) {
  const bool on_device = !trace.kernels.empty();
  const Shares shares = OwnTimes(on_device ? trace.kernels : trace.operators, trace);
  std::map<int64_t, double> totals;
  std::vector<std::pair<double, std::string>> largest;
  for (const auto& [name, steps] : shares) {
    double sum = 0;
    for (const auto& [step, time] : steps) {
      totals[step] += time;
      sum += time;
    }
    largest.emplace_back(sum, name);
  }
  std::ranges::sort(largest, std::greater<>());
  if (largest.size() > kMostShares) largest.resize(kMostShares);
  for (const auto& [sum, name] : largest) {
    for (const auto& [step, total] : totals) {
      const auto& steps = shares.at(name);
      const auto time = steps.find(step);
      const double share = total > 0 && time != steps.end() ? time->second / total : 0;
      log.rows.push_back(
          {step, StrCat("share of ", on_device ? "kernel " : "operator ", name), share});
    }
  }
}

void AddSteps(ProfilerTrace& trace, Log& log) {
  std::ranges::sort(trace.kernels, {}, BeginOf);
  for (const auto& [number, span] : trace.steps) {
    log.rows.push_back({number, "wall_time", span.end});
    if (trace.kernels.empty() || span.end <= span.begin) continue;
    const double busy = Covered(trace.kernels, span) / (span.end - span.begin);
    log.rows.push_back({number, kIdleName, 1 - busy});
    const auto waits = std::ranges::count_if(
        trace.waits, [&span](double time) { return time >= span.begin && time < span.end; });
    log.rows.push_back({number, kWaitsName, static_cast<double>(waits)});
  }
}

}  // namespace

absl::StatusOr<Log> ReadProfilerTrace(const std::string& text) {
  ProfilerTrace trace;
  // Each event is taken and let go: a trace has millions.
  const auto callback = [&trace](int depth, TraceJson::parse_event_t event, TraceJson& parsed) {
    if (event != TraceJson::parse_event_t::object_end || depth != 2) return true;
    Take(parsed, trace);
    return false;
  };
  const TraceJson whole = TraceJson::parse(text, callback, false);
  Log log{.kind = kProfilerTrace};
  if (whole.is_discarded()) AddFlaw("it is cut off, or no JSON", log);
  if (!trace.is_trace) {
    return absl::InvalidArgumentError("it holds no events of the PyTorch profiler");
  }
  if (trace.steps.empty()) {
    Span all{trace.operators.empty() ? 0 : BeginOf(trace.operators.front()), 0};
    for (const auto* events : {&trace.operators, &trace.kernels}) {
      for (const Operator& one : *events) {
        all = {std::min(all.begin, one.span.begin), std::max(all.end, one.span.end)};
      }
    }
    trace.steps[0] = all;
    AddFlaw("it has no steps: call step() of the profiler after each", log);
  }
  AddSteps(trace, log);
  AddShares(trace, log);
  return log;
}

}  // namespace dlcheck
