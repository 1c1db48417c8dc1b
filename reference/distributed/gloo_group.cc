#include "reference/distributed/gloo_group.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdlib>

#include "reference/distributed/group.h"

namespace dlcheck::reference {
namespace {

using Gloo = c10d::ProcessGroupGloo;

c10::intrusive_ptr<c10d::Store> StoreOf(const Placement& placement,
                                        std::chrono::milliseconds patience) {
  c10d::TCPStoreOptions options;
  options.port = placement.port;
  options.isServer = placement.rank == 0 && !placement.is_served_elsewhere;
  if (!placement.is_served_elsewhere) options.numWorkers = static_cast<size_t>(placement.world);
  options.waitWorkers = !placement.is_served_elsewhere;
  options.masterListenFd = placement.listening;
  options.timeout = patience;
  const auto store = c10::make_intrusive<c10d::TCPStore>(placement.address, options);
  return c10::make_intrusive<c10d::PrefixStore>("dlcheck-train/" + placement.attempt, store);
}

auto DeviceOf(const Placement& placement) {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr) return Gloo::createDeviceForInterface(interface);
  if (placement.is_one_machine) return Gloo::createDeviceForHostname("127.0.0.1");
  return Gloo::createDefaultDevice();
}

}  // namespace

Ranks JoinOverGloo(const Placement& placement, std::chrono::milliseconds patience) {
  const c10::intrusive_ptr<c10d::Store> store = StoreOf(placement, patience);
  const auto options = Gloo::Options::create(patience);
  options->devices.push_back(DeviceOf(placement));
  const auto gloo = c10::make_intrusive<Gloo>(c10::make_intrusive<c10d::PrefixStore>("gloo", store),
                                              static_cast<int>(placement.rank),
                                              static_cast<int>(placement.world), options);
  return RanksOf(store, at::kCPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
}

}  // namespace dlcheck::reference
