#include <algorithm>
#include <cmath>

#include "checks/catalog/term_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss_terms.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 1e-4,
                         .low = 0,
                         .high = 0.5,
                         .unit = "of the gradient",
                         .meaning = "least share of a term in the gradients' norms and in the loss",
                         .source = "shared/notes/checks.md N54"};
constexpr Setting kMoments{.name = "moments",
                           .value = 3,
                           .low = 1,
                           .high = 64,
                           .unit = "backward calls",
                           .meaning = "fewest backward calls that a finding rests on",
                           .source = "own reasoning: values have to change, and weights to stay"};
constexpr Setting kCurved{
    .name = "curved",
    .value = 0.01,
    .low = 0,
    .high = 1,
    .unit = "of the share in the gradient",
    .meaning = "a share in the loss below this is of a term near its own least value",
    .source = "own reasoning: there a value falls as the square of its gradient"};
constexpr Setting kVaried{.name = "varied",
                          .value = 1e-5,
                          .low = 0,
                          .high = 1,
                          .unit = "of the value",
                          .meaning = "least change of a value that has no gradient at all",
                          .source = "own reasoning: what only rounding changes is a constant"};
constexpr Setting kUnweighted{.name = "unweighted",
                              .value = 0.01,
                              .low = 0,
                              .high = 1,
                              .unit = "of the gradient",
                              .meaning = "least share of a term if its weight were the largest",
                              .source = "own reasoning: one that is small by itself is done"};

bool IsIdle(const Settings& settings, const LossTerms::Term& term) {
  const auto all = [&](auto claim) { return std::ranges::all_of(term.moments, claim); };
  if (static_cast<double>(term.moments.size()) < settings[kMoments]) return false;
  // A hinge that is satisfied has no value, and where a bound holds it is always the same.
  if (!all([](const auto& moment) { return moment.value != 0; })) return false;
  if (all([](const auto& moment) { return moment.of_gradient == 0; })) {
    return term.Variation() > settings[kVaried];
  }
  if (!term.HasOneFactor()) return false;
  return all([&](const auto& moment) {
    return moment.of_gradient < settings[kShare] && moment.of_loss < settings[kShare] &&
           moment.of_loss >= settings[kCurved] * moment.of_gradient &&
           moment.of_gradient >= settings[kUnweighted] * std::abs(moment.factor);
  });
}

Finding FindingOf(const Settings& settings, const LossTerms::Term& term) {
  const auto most = std::ranges::max(term.moments, {}, &LossTerms::Moment::of_gradient);
  const std::string part = most.of_gradient == 0
                               ? "no gradient: it was cut off from the weights"
                               : StrCat(Short(most.of_gradient), " of the gradients at most");
  return {.severity = Severity::kNote,
          .message = StrCat("A loss has a term with ", part, ". It is ", term.name, ", which is ",
                            Short(most.value), " at step ", most.step, " and counts ",
                            Short(most.factor), " times."),
          .places = {{.thing = term.name, .file = term.site.file, .line = term.site.line}},
          .first_step = term.moments.front().step,
          .last_step = term.moments.back().step,
          .count = static_cast<int64_t>(term.moments.size()),
          .measured = most.of_gradient,
          .bound = settings[kShare]};
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const During<kTrials, LossTerms>& tried) {
  if (tried->terms.empty()) return absl::FailedPreconditionError(tried->untried);
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(tried->terms.size()), "term")};
  for (const LossTerms::Term& term : tried->terms) {
    if (IsIdle(settings, term)) verdict.findings.push_back(FindingOf(settings, term));
  }
  return verdict;
}

}  // namespace

Check NegligibleLossTerm() {
  return {
      .id = "training_loop/negligible_loss_term",
      .promise = "Each term of a loss takes part in the gradient.",
      .why = "Such a term is not trained: its weight is of another scale, or it was detached.",
      .method =
          "In eight steps of their own the graph of a loss is walked down through sums and "
          "constant factors to two to twelve terms, and the norms of their gradients are compared.",
      .fix =
          "Work the term out without detach(), .data and no_grad(); give one that is not cut off a "
          "weight of the scale of the others.",
      .limits =
          "Needs --deep, torch 2.6, and no functions or hooks of the program in a backward. A "
          "note, as a tiny weight may be meant. Silent for a weight of zero or one that changes, "
          "a term that is small by itself, and what depends on no parameter or is a number of "
          "Python. Measured: a term with 9.8e-5 of the gradient is caught.",
      .sources = {"own reasoning: the gradient of a sum is the sum of gradients"},
      .covers = {"N54"},
      .explains = {"gradients/gradient_mismatch"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kShare, kMoments, kCurved, kVaried, kUnweighted},
      .judgement = Reads<&Judge>(),
      .examples = {{"hardly more", Expect::kClean,
                    [] {
                      return WithTerm({{1.1e-4, 9e-5, 9e-5, 9e-5}, {1, 2, 1, 2}});
                    }},
                   {"small by itself", Expect::kClean,
                    [] {
                      return WithTerm({{9e-5, 9e-5, 9e-5, 9e-5}, {1, 2, 1, 2}, 1e-5, 0.1});
                    }},
                   {"a satisfied hinge", Expect::kClean,
                    [] {
                      return WithTerm({{0, 0, 0, 0}, {1, 1, 0, 1}});
                    }},
                   {"a bound that holds", Expect::kClean,
                    [] {
                      return WithTerm({{0, 0, 0, 0}, {3, 3, 3, 3}});
                    }},
                   {"near its least value", Expect::kClean,
                    [] {
                      return WithTerm({{1e-5, 1e-5, 1e-5, 1e-5}, {1, 2, 1, 2}, 1e-10});
                    }},
                   {"of the wrong scale", Expect::kFaulty,
                    [] {
                      return WithTerm({{9e-5, 9e-5, 9e-5, 9e-5}, {1, 2, 1, 2}});
                    }},
                   {"detached", Expect::kFaulty,
                    [] {
                      return WithTerm({{0, 0, 0, 0}, {1, 1, 1, 1.0001}, 0.3});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
