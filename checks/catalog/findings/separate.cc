#include "checks/catalog/findings/separate.h"

#include <algorithm>

namespace dlcheck {

bool BeganAlike(const Replicas::Group& group) {
  return std::ranges::all_of(group.parameters, [](const Replicas::Parameter& parameter) {
    return parameter.states.front().step == 0 && parameter.states.front().odd.empty();
  });
}

std::vector<OddParameter> Separate(const Replicas::Group& group) {
  std::vector<OddParameter> found;
  for (const Replicas::Parameter& parameter : group.parameters) {
    if (parameter.compared == 0) continue;
    const Replicas::State* parted = parameter.Parted();
    if (parted == nullptr || parameter.CameTogether() || parameter.last_shared >= 0) return {};
    found.push_back({&parameter, parted});
  }
  return found;
}

bool IsOneModel(const Replicas::Group& group, const Replicas& replicas) {
  return replicas.own_sharing || replicas.speaks_to_one || replicas.reads_files ||
         (replicas.speaks_in_passes && !BeganAlike(group));
}

bool IsDealtByHand(const Replicas::Group& group, const Replicas& replicas,
                   const DealtTraining& dealt) {
  return dealt.apart == group.members && dealt.users.size() == 1 && !replicas.may_share_unseen &&
         !replicas.speaks_in_passes && BeganAlike(group);
}

}  // namespace dlcheck
