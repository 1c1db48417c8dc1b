#include "checks/observe/preload/loss_functions.h"

#include <unordered_map>

namespace dlcheck {

const LossFunction* FindLossFunction(std::string_view operation) {
  static const std::unordered_map<std::string_view, LossFunction> functions = {
      {"aten::cross_entropy_loss", {"cross_entropy", "cross_entropy", 3}},
      {"aten::nll_loss_nd", {"nll", "nll_loss", 3}},
      {"aten::nll_loss", {"nll", "nll_loss", 3}},
      {"aten::mse_loss", {"mse", "mse_loss", 2}},
      {"aten::binary_cross_entropy", {"bce", "binary_cross_entropy", 3}},
      {"aten::binary_cross_entropy_with_logits", {"bce", "binary_cross_entropy_with_logits", 4}},
      {"aten::l1_loss", {"l1", "l1_loss", 2}},
      {"aten::smooth_l1_loss", {"smooth_l1", "smooth_l1_loss", 2}},
      {"aten::huber_loss", {"huber", "huber_loss", 2}},
      {"aten::kl_div", {"kl", "kl_div", 2}},
  };
  const auto found = functions.find(operation);
  return found == functions.end() ? nullptr : &found->second;
}

}  // namespace dlcheck
