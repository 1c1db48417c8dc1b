#include "checks/observe/preload/experiments/dropout_off.h"

#include <string>

namespace dlcheck {

void SwitchDropoutOff(const c10::FunctionSchema& schema, OperationValues& arguments) {
  const bool is_dropout = schema.name().find("dropout") != std::string::npos;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = schema.arguments()[i].name();
    const bool is_probability =
        name == "dropout_p" || name == "dropout" || (is_dropout && name == "p");
    if (is_probability && arguments[i].isDouble()) arguments[i] = 0.0;
  }
}

}  // namespace dlcheck
