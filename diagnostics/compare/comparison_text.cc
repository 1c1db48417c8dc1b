#include "diagnostics/compare/comparison_text.h"

#include "checks/engine/text.h"
#include "diagnostics/compare/outcome.h"

namespace dlcheck {
namespace {

std::string StepsOf(const Difference& first) {
  if (first.step_a == first.step_b) return StrCat("step ", WithCommas(first.step_a));
  return StrCat("step ", WithCommas(first.step_a), " of A and ", WithCommas(first.step_b), " of B");
}

// One value of a quantity, for a count of them.
std::string NounOf(const std::string& quantity) {
  if (quantity == "loss") return "backward call";
  return quantity == "clip" ? "clipping call" : StrCat("value of ", quantity);
}

}  // namespace

std::string HeadlineOf(const Comparison& comparison) {
  if (!comparison.offset.has_value()) {
    return "B went on from a file, and no step of A fits its first one: name it with --offset";
  }
  if (comparison.walk.steps == 0) return "No step of both runs was recorded";
  if (!comparison.walk.first.has_value()) return "No difference in what was recorded";
  const Difference& first = *comparison.walk.first;
  std::string text =
      StrCat("First difference at ", StepsOf(first), ", in ", StageName(first.stage));
  if (!first.thing.empty()) StrAppend(&text, ": ", first.thing);
  return text;
}

std::string NumbersOf(const Comparison& comparison) {
  if (!comparison.walk.first.has_value()) return "";
  const Difference& first = *comparison.walk.first;
  std::string text;
  if (first.count_a != first.count_b) {
    text = StrCat("A has ", Counted(static_cast<int64_t>(first.count_a), NounOf(first.quantity)),
                  " in this step, B ", first.count_b, ".");
  } else if (IsDigest(first.quantity)) {
    text = StrCat("The values of ", first.quantity, " are not equal.");
  } else {
    const auto [a, b] = ShortApart(first.a, first.b);
    text = StrCat("The ", first.quantity, " of A is ", a, ", of B ", b, ": ",
                  Short(100 * first.relative), " % apart.");
  }
  if (first.compared > 1) {
    StrAppend(&text, " ", WithCommas(static_cast<int64_t>(first.differing)), " of ",
              WithCommas(static_cast<int64_t>(first.compared)), " values of this kind differ.");
  }
  return text;
}

std::string ExtentOf(const Comparison& comparison) {
  const Walk& walk = comparison.walk;
  if (!walk.first.has_value()) return "";
  std::vector<std::string> parts;
  for (const auto& [stage, count] : walk.differing) {
    parts.push_back(StrCat(StageName(stage), " (", WithCommas(count), ")"));
  }
  std::string text =
      StrCat("In the whole run, values of these differ: ", Listed(parts, parts.size()), ".");
  if (walk.trains_alike())
    text += " No loss, gradient or weight does: the difference has no effect.";
  return text;
}

std::string EqualPartOf(const Comparison& comparison) {
  const Walk& walk = comparison.walk;
  if (!walk.first.has_value()) {
    return StrCat("all ", Counted(walk.values, "value"), " of ", Counted(walk.steps, "step"));
  }
  if (walk.values == 0) return "nothing before it";
  std::string text = StrCat(Counted(walk.values, "value"), " before it");
  const Difference& first = *walk.first;
  if (first.last_equal >= 0 && first.last_equal + 1 < first.step_a) {
    StrAppend(&text, ", up to step ", WithCommas(first.last_equal),
              " of A; the steps between were not recorded");
  }
  return text;
}

std::string OutcomeTextOf(const LossOutcome& outcome) {
  std::string text = StrCat("B is ", BetterName(outcome.b));
  if (outcome.b == Better::kUnknown) text = "Whether B is better cannot be told";
  if (!outcome.reason.empty()) StrAppend(&text, ": ", outcome.reason);
  text += ".";
  if (outcome.measure.empty()) return text;
  if (outcome.b == Better::kSame) return text;
  const auto [a, b] = ShortApart(MeanOf(outcome.of_a), MeanOf(outcome.of_b));
  const bool several = outcome.of_a.size() + outcome.of_b.size() > 2;
  StrAppend(&text, several ? " Mean of the " : " The ", outcome.measure, ": ", a, " in A, ", b,
            " in B.");
  if (outcome.low != outcome.high) {
    StrAppend(&text, " 95 % interval of the difference: ", Short(outcome.low), " to ",
              Short(outcome.high), ", from ", outcome.of_a.size(), " and ", outcome.of_b.size(),
              " runs.");
  }
  return text;
}

}  // namespace dlcheck
