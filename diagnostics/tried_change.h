// What a run with a suggested change of the program came to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dlcheck {

struct TriedChange {
  std::string check;  // whose finding the change is for
  std::string file;   // absolute
  std::string diff;   // unified
  // One sentence for people. Where the change was not tried it says why.
  std::string outcome;
  bool gone = false;  // the check was judged again, and found nothing
  // Median losses of the same late steps without and with the change; none where they are of
  // different meaning, or one of both is not there.
  std::optional<double> loss_before = {}, loss_after = {};
};

}  // namespace dlcheck
