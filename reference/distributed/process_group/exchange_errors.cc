#include "reference/distributed/process_group/exchange_errors.h"

#include <c10/util/Exception.h>

#include <string>
#include <typeinfo>

namespace dlcheck::reference {

bool IsOfExchange(const std::exception& error) {
  const std::string what = error.what();
  const std::string line = what.substr(0, what.find('\n'));
  // What gloo says of an interface is wrong with this machine.
  if (line.find("/gloo/transport/tcp/device.cc") != std::string::npos) return false;
  if (dynamic_cast<const c10::DistError*>(&error) != nullptr) return true;
  // gloo's exceptions are declared in no header that comes with LibTorch; once c10d has wrapped
  // one, it still names its source file.
  if (std::string(typeid(error).name()).find("4gloo") != std::string::npos) return true;
  return line.find("/gloo/") != std::string::npos;
}

}  // namespace dlcheck::reference
