#include "checks/signals/model/sensitivities.h"

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

Sensitivities::Of TrialsOf(const Trace& trace, Quantity quantity, std::string_view trial,
                           std::string_view where) {
  Sensitivities::Of found;
  for (const ThingId model : trace.ThingsWith(quantity)) {
    for (const Sample& sample : trace.Series(quantity, model)) {
      found.trials.push_back({trace.Display(model), sample.step, sample.value, sample.aux,
                              std::string(trace.Attribute(model, where)), trace.site(sample.site)});
    }
  }
  if (!found.trials.empty()) return found;
  for (const ThingId model : trace.ThingsOfKind("model")) {
    for (const std::string& key : {StrCat("untried/", trial), std::string("untried")}) {
      const std::string_view reason = trace.Attribute(model, key);
      if (found.untried.empty() && !reason.empty()) {
        found.untried = StrCat(trace.Display(model), ": ", reason);
      }
    }
  }
  return found;
}

}  // namespace

absl::StatusOr<Sensitivities> Sensitivities::From(const Run& run) {
  const Trace& trace = run.trace;
  Sensitivities found{
      .future = TrialsOf(trace, Quantity::kFutureSensitivity, "future", "leaks_in"),
      .copies = TrialsOf(trace, Quantity::kCopiedFutureSensitivity, "future", ""),
      .neighbors = TrialsOf(trace, Quantity::kNeighborSensitivity, "neighbors", "mixes_in"),
      .padding = TrialsOf(trace, Quantity::kPaddingSensitivity, "padding", "mixes_padding_in"),
      .lengths = TrialsOf(trace, Quantity::kLengthSensitivity, "shortened", ""),
      .counted = TrialsOf(trace, Quantity::kCountedPadding, "counted", ""),
      .documents = TrialsOf(trace, Quantity::kDocumentSensitivity, "packed", "crosses_in"),
      .separation = TrialsOf(trace, Quantity::kDocumentSeparation, "packed", ""),
      .noise = TrialsOf(trace, Quantity::kEvaluationNoise, "dropout", "active_dropout"),
      .declared_documents = std::string(trace.ProcessAttribute("declared.documents"))};
  for (const Of* one : {&found.future, &found.copies, &found.neighbors, &found.padding,
                        &found.lengths, &found.counted, &found.documents, &found.noise}) {
    if (!one->trials.empty() || !one->untried.empty()) return found;
  }
  return absl::NotFoundError("no model was tested on a copy");
}

}  // namespace dlcheck
