// What a program's losses say beside those of its baselines on the same batches.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dlcheck::reference {

// The mean loss of the last tenth of the steps, or of the last ten where that is more; of fewer, of
// all.
double LateLoss(const std::vector<double>& losses);

// Of the differences between two losses of the same batches, late ones alone: the mean, and the
// bounds of its interval of 95 % by the bootstrap over batches.
struct Difference {
  double mean, low, high;
};
Difference LateDifference(const std::vector<double>& one, const std::vector<double>& other);

struct BaselineLosses {
  std::string name;
  std::vector<std::vector<double>> losses;  // by seed and step
};

struct Verdict {
  // kNotBetterThanConstant  error: the program's late loss is not below that of the best constant,
  // and
  //                         a baseline's is
  // kNobodyLearns           warning: neither is: the inputs do not tell the targets, or the steps
  // are
  //                         too few
  // kNotBetterThanLinear    warning: a linear model, the plainest baseline, learns more
  // kWeaker                 note: a baseline learns more with every seed, beyond its interval
  // kStillLearning          passed: a baseline does, and at its pace the program comes as far
  // within
  //                         as many steps as it had
  // kLearnable              passed: there is no program, and a model learns
  // kAsGood                 passed: no baseline does
  // kOtherObjective         note: the program minimizes something else, so that losses say little
  enum class Kind {
    kNotBetterThanConstant,
    kNobodyLearns,
    kNotBetterThanLinear,
    kWeaker,
    kStillLearning,
    kAsGood,
    kOtherObjective,
    kLearnable
  };
  Kind kind;
  std::string text;
  std::optional<std::string> baseline;  // that decided
};

// The late loss of the middle seed; infinite if it is not finite.
double MiddleLate(const BaselineLosses& baseline);

// Which half of a program is weak, that `baseline` is ahead of. `like` is that baseline under the
// program's own optimizer and rates: if these keep it from learning, too, they are weak; else the
// model is, or what lies between the batch and the loss.
enum class Weak { kOptimizer, kModel };
Weak WeakHalf(double constant, const BaselineLosses& baseline, const BaselineLosses& like);

// `baselines` begin with the plainest. What somebody learned is how far the late loss lies below
// the constant. A baseline is ahead only if it is with every seed, with an interval that does not
// hold 0, and if the program learned less than four fifths of what the baseline did: two good
// programs differ, too.
Verdict Compare(const std::vector<double>& losses, double constant,
                const std::vector<BaselineLosses>& baselines);

// Without a program: what the data allow. kLearnable or kNobodyLearns.
Verdict CompareAlone(double constant, const std::vector<BaselineLosses>& baselines);

}  // namespace dlcheck::reference
