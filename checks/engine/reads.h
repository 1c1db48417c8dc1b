// Reads<&Judge>(): the parameters of a plain function say what its check needs.
//
//   absl::StatusOr<Verdict> Judge(const Settings&, const LossCurve& loss,
//                                 const During<kSameSeed, LossCurve>& second,
//                                 const IfSeen<LearningRates>& rates);
//
// A bare signal is of the plain run; During is of another experiment; IfSeen can be done without,
// and IfSeen<During<...>> is an experiment that is run only while the check does not pass without
// it.
#pragma once

#include <tuple>

#include "checks/engine/check.h"

namespace dlcheck {

template <Experiment kExperiment, Signal S>
struct During {
  using Of = S;
  static constexpr Experiment kDuring = kExperiment;
  const S* signal;
  const S* operator->() const { return signal; }
  const S& operator*() const { return *signal; }
};

template <typename S>
struct IfSeen {
  const S* signal = nullptr;
  explicit operator bool() const { return signal != nullptr; }
  const S* operator->() const { return signal; }
  const S& operator*() const { return *signal; }
};

template <Experiment kExperiment, Signal S>
struct IfSeen<During<kExperiment, S>> {
  const S* signal = nullptr;
  explicit operator bool() const { return signal != nullptr; }
  const S* operator->() const { return signal; }
  const S& operator*() const { return *signal; }
};

namespace internal {

// Each Parameter reads one argument of Judge: Status() is why it cannot be had, Value() what is
// passed.
template <typename T>
struct Parameter {
  explicit Parameter(const Evidence& evidence) : read(evidence.Get<T>(kPlain)) {}
  static Need Needs() { return {kPlain, T::kName, false}; }
  absl::Status Status() const { return read.status(); }
  const T& Value() const { return *read; }
  const absl::StatusOr<T>& read;
};

template <Experiment kExperiment, Signal S>
struct Parameter<During<kExperiment, S>> {
  explicit Parameter(const Evidence& evidence) : read(evidence.Get<S>(kExperiment)) {}
  static Need Needs() { return {kExperiment, S::kName, false}; }
  absl::Status Status() const { return read.status(); }
  During<kExperiment, S> Value() const { return {&*read}; }
  const absl::StatusOr<S>& read;
};

template <typename S>
struct Parameter<IfSeen<S>> {
  explicit Parameter(const Evidence& evidence) : read(evidence.Get<S>(kPlain)) {}
  static Need Needs() { return {kPlain, S::kName, true}; }
  absl::Status Status() const { return absl::OkStatus(); }
  IfSeen<S> Value() const { return {read.ok() ? &*read : nullptr}; }
  const absl::StatusOr<S>& read;
};

template <Experiment kExperiment, Signal S>
struct Parameter<IfSeen<During<kExperiment, S>>> {
  explicit Parameter(const Evidence& evidence) : read(evidence.Get<S>(kExperiment)) {}
  static Need Needs() { return {kExperiment, S::kName, true}; }
  absl::Status Status() const { return absl::OkStatus(); }
  IfSeen<During<kExperiment, S>> Value() const { return {read.ok() ? &*read : nullptr}; }
  const absl::StatusOr<S>& read;
};

template <auto kJudge, typename F>
struct Reader;
template <auto kJudge, typename R, typename... P>
struct Reader<kJudge, R (*)(const Settings&, const P&...)> {
  static absl::StatusOr<Verdict> Judge(const Settings& settings, const Evidence& evidence) {
    return std::apply(
        [&](const auto&... parameter) -> absl::StatusOr<Verdict> {
          for (const absl::Status& status : {absl::OkStatus(), parameter.Status()...}) {
            if (!status.ok()) return status;
          }
          return kJudge(settings, parameter.Value()...);
        },
        std::tuple<Parameter<P>...>{Parameter<P>(evidence)...});
  }
  static Judgement Make() { return {{Parameter<P>::Needs()...}, &Judge}; }
};

}  // namespace internal

template <auto kJudge>
Judgement Reads() {
  return internal::Reader<kJudge, decltype(kJudge)>::Make();
}

}  // namespace dlcheck
