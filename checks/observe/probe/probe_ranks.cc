#include "checks/observe/probe/probe_ranks.h"

#include <exception>
#include <string>

#include "checks/observe/probe/probe_calls.h"

namespace dlcheck {
namespace {

constexpr double kNanosecond = 1e-9;
// Larger parameters are looked at only where the number of the step is 0 or a power of two.
constexpr size_t kMostOftenBytes = size_t{64} << 20;

// The numbers, neighbors as a range: "0-3,6".
std::string NameOf(const std::vector<int>& ranks) {
  std::string name;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const bool begins = i == 0 || ranks[i] != ranks[i - 1] + 1;
    const bool ends = i + 1 == ranks.size() || ranks[i + 1] != ranks[i] + 1;
    if (begins && i > 0) name.push_back(',');
    if (ends && !begins) name.push_back('-');
    if (begins || ends) name.append(std::to_string(ranks[i]));
  }
  return name;
}

std::vector<int> UpTo(int world) {
  std::vector<int> ranks;
  for (int rank = 0; rank < world; ++rank) ranks.push_back(rank);
  return ranks;
}

}  // namespace

void ProbeRanks::Join(int rank, int world) {
  rank_ = rank;
  world_ = world;
  if (world < 2) return;
  clock_->writer().SetRank(static_cast<uint16_t>(rank));
  clock_->writer().Attribute(0, "world_size", std::to_string(world));
}

void ProbeRanks::Replicate(const std::vector<int>& ranks) {
  if (ranks.size() > 1) replicas_ = clock_->writer().Thing("replicas", 0, NameOf(ranks));
}

void ProbeRanks::WriteReplicas(const std::vector<std::pair<uint32_t, at::Tensor>>& parameters) {
  if (replicas_ == 0 || !clock_->is_detailed()) return;
  size_t bytes = 0;
  for (const auto& [thing, tensor] : parameters) bytes += tensor.nbytes();
  if (bytes > kMostOftenBytes && !clock_->takes_digest()) return;
  for (const auto& [thing, tensor] : parameters) {
    clock_->PutDigest(Quantity::kReplicaDigest, {thing, replicas_}, DigestTensors({tensor}));
  }
}

void ProbeRanks::Call(const at::RecordFunction& function) {
  if (are_many()) WriteCollective(*clock_, function, world_, All());
}

void ProbeRanks::SkipCalls() {
  if (are_many()) clock_->Put(Event::kCollective, {});
}

void ProbeRanks::BeginForward(const at::Device& device) {
  if (!are_many() || !clock_->takes_digest() || clock_->micro_step() > 0) return;
  generator_ = at::globalContext().defaultGenerator(device);
  drawn_from_ = generator_.get_state();
}

void ProbeRanks::EndForward() {
  if (!drawn_from_.defined()) return;
  const at::Tensor before = std::exchange(drawn_from_, {});
  if (at::equal(before, generator_.get_state())) return;
  const std::string name = generator_.device().is_cuda() ? "cuda" : "torch";
  clock_->PutDigest(Quantity::kDrawnMasks, {clock_->writer().Thing("generator", 0, name), All()},
                    DigestTensors({before}));
}

void ProbeRanks::Evaluate(const ProbeModels& models) {
  if (!are_many() || replicas_ == 0 || std::exchange(evaluates_, true)) return;
  for (const auto& [thing, buffer] : models.Buffers()) {
    clock_->PutDigest(Quantity::kBufferDigest, {thing, replicas_}, DigestTensors({buffer}));
  }
}

uint32_t ProbeRanks::All() { return clock_->writer().Thing("peers", 0, NameOf(UpTo(world_))); }

void ProbeRanks::BeginBackward(std::optional<uint64_t> last_step_end) {
  if (world_ < 2 || !last_step_end || !clock_->sampled()) return;
  clock_->Put(Quantity::kOwnTime, {0, All()},
              static_cast<double>(MonotonicTime() - *last_step_end) * kNanosecond);
}

void ProbeRanks::End() {
  if (world_ < 2) return;
  const uint32_t process = clock_->writer().Thing("process", 0, std::to_string(rank_));
  const bool raised = std::uncaught_exceptions() > 0;
  clock_->writer().Attribute(process, "ended", raised ? "an exception" : "finished");
}

}  // namespace dlcheck
