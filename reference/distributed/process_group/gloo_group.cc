#include "reference/distributed/process_group/gloo_group.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <chrono>
#include <cstdlib>

#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {
namespace {

using Gloo = c10d::ProcessGroupGloo;

auto DeviceOf(const Placement& placement) {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr) return Gloo::createDeviceForInterface(interface);
  if (placement.is_one_machine) return Gloo::createDeviceForHostname("127.0.0.1");
  return Gloo::createDefaultDevice();
}

}  // namespace

Ranks JoinOverGloo(const c10::intrusive_ptr<c10d::Store>& store, const Placement& placement,
                   std::chrono::milliseconds patience) {
  const auto options = Gloo::Options::create(patience);
  options->devices.push_back(DeviceOf(placement));
  const auto gloo = c10::make_intrusive<Gloo>(c10::make_intrusive<c10d::PrefixStore>("gloo", store),
                                              static_cast<int>(placement.rank),
                                              static_cast<int>(placement.world), options);
  const auto part = [=](const std::string& name, const std::vector<int64_t>& members) {
    Placement own = placement;
    own.rank = PlaceIn(members, placement.rank);
    own.world = static_cast<int64_t>(members.size());
    return JoinOverGloo(c10::make_intrusive<c10d::PrefixStore>(name, store), own, patience);
  };
  return RanksOf(store, {{at::kCPU, c10d::ProcessGroup::BackendType::GLOO, gloo}}, part);
}

}  // namespace dlcheck::reference
