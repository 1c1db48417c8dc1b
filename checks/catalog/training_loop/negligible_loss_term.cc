#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/term_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/loss_terms.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 1e-4,
                         .low = 0,
                         .high = 0.5,
                         .unit = "of the gradient",
                         .meaning = "smallest share of a term in the gradient norm and in the loss",
                         .source = "own reasoning: less does not steer the training"};
constexpr Setting kMoments{
    .name = "moments",
    .value = 3,
    .low = 1,
    .high = 64,
    .unit = "backward calls",
    .meaning = "fewest backward calls for a finding",
    .source = "own reasoning: term values must change while their weights stay constant"};
constexpr Setting kCurved{
    .name = "curved",
    .value = 0.01,
    .low = 0,
    .high = 1,
    .unit = "of the share in the gradient",
    .meaning = "a smaller share in the loss means a term near its own minimum",
    .source = "own reasoning: near a minimum, the value falls as the square of the gradient"};
constexpr Setting kVaried{
    .name = "varied",
    .value = 1e-5,
    .low = 0,
    .high = 1,
    .unit = "of the value",
    .meaning = "smallest change in value of a term without a gradient",
    .source = "own reasoning: a value that changes only by rounding is a constant"};
constexpr Setting kUnweighted{
    .name = "unweighted",
    .value = 0.01,
    .low = 0,
    .high = 1,
    .unit = "of the gradient",
    .meaning = "smallest share of a term, scaled to the largest weight",
    .source = "own reasoning: a term that is small by itself is already minimized"};

bool IsIdle(const Settings& settings, const LossTerms::Term& term) {
  const auto all = [&](auto claim) { return std::ranges::all_of(term.moments, claim); };
  if (static_cast<double>(term.moments.size()) < settings[kMoments]) return false;
  // A satisfied hinge is zero, and a clamped term is constant.
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
  const std::string part =
      most.of_gradient == 0 ? std::string("no gradient, because it is detached")
                            : StrCat("at most ", Short(most.of_gradient), " of the gradient norm");
  return {.severity = Severity::kNote,
          .message = StrCat("The loss term (", term.name, ") contributes ", part, " (value ",
                            Short(most.value), ", weight ", Short(most.factor), ", step ",
                            most.step, ")."),
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
      .title = "A loss term contributes almost no gradient",
      .promise = "Every term of a loss contributes to the gradient.",
      .why =
          "A negligible term is not trained. Its weight has the wrong scale, or the term is "
          "detached.",
      .method =
          "Runs eight extra steps. Splits the loss graph at sums and constant factors into 2 to 12 "
          "terms and compares their gradient norms.",
      .fix =
          "If the term is detached, remove detach(), .data or no_grad(). Otherwise raise its "
          "weight to the scale of the other terms.",
      .limits = {.needs = "--deep and torch 2.6. The backward pass must contain no custom autograd "
                          "functions or hooks.",
                 .silent_when = "The term's weight is zero or changes. The term is small by "
                                "itself. The term depends on no parameter or is a Python number.",
                 .severity = "Always a note, because a tiny weight may be intentional.",
                 .blind_spots = "",
                 .sensitivity = "A term with 9.8e-5 of the gradient norm is found."},
      .python = {.bad = R"(with torch.no_grad():
    smoothness = (pred[1:] - pred[:-1]).pow(2).mean()
loss = F.mse_loss(pred, y) + 0.1 * smoothness
loss.backward())",
                 .good = R"(smoothness = (pred[1:] - pred[:-1]).pow(2).mean()
loss = F.mse_loss(pred, y) + 0.1 * smoothness
loss.backward())"},
      .cpp = {},
      .sources = {"own reasoning: the gradient of a sum is the sum of gradients"},
      .covers = {"negligible-loss-term", "ineffective-regularizer", "dominating-regularizer",
                 "unbalanced-loss-terms"},
      .explains = {"gradients/gradient_mismatch"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kShare, kMoments, kCurved, kVaried, kUnweighted},
      .judgement = Reads<&Judge>(),
      .examples = {{"slightly above the threshold", Expect::kClean,
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
                   {"a clamped term with a constant value", Expect::kClean,
                    [] {
                      return WithTerm({{0, 0, 0, 0}, {3, 3, 3, 3}});
                    }},
                   {"near its minimum", Expect::kClean,
                    [] {
                      return WithTerm({{1e-5, 1e-5, 1e-5, 1e-5}, {1, 2, 1, 2}, 1e-10});
                    }},
                   {"a weight of the wrong scale", Expect::kNote,
                    [] {
                      return WithTerm({{9e-5, 9e-5, 9e-5, 9e-5}, {1, 2, 1, 2}});
                    }},
                   {"detached", Expect::kNote,
                    [] {
                      return WithTerm({{0, 0, 0, 0}, {1, 1, 1, 1.0001}, 0.3});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
