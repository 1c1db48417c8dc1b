// c10d::Reducer, whose constructor took more arguments with each release of PyTorch from 2.6
// to 2.14. Which is there is asked of the compiler and not of the version.
#pragma once

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace dlcheck::reference {

struct ReducerArguments {
  std::vector<torch::Tensor> parameters;
  std::vector<std::vector<size_t>> buckets;  // places of parameters, in the order of readiness
  std::vector<size_t> bucket_limits;         // by bucket, bytes
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  std::vector<bool> are_sparse;  // gradients, by parameter
  int64_t bucket_bytes;
  bool finds_unused;
  std::unordered_map<size_t, std::string> names;
  int64_t first_bucket_bytes;
};

template <typename Reducer, typename... More>
constexpr bool kTakes =
    std::is_constructible_v<Reducer, std::vector<torch::Tensor>, std::vector<std::vector<size_t>>,
                            c10::intrusive_ptr<c10d::ProcessGroup>, std::vector<bool>, int64_t,
                            bool, bool, std::unordered_map<size_t, std::string>, int64_t, More...>;

template <typename Reducer = c10d::Reducer>
std::shared_ptr<Reducer> MakeReducer(const ReducerArguments& a) {
  constexpr bool kAsViews = true;  // gradients lie in the buckets, which else are as much again
  const auto make = [&](auto... more) {
    return std::make_shared<Reducer>(a.parameters, a.buckets, a.group, a.are_sparse, a.bucket_bytes,
                                     a.finds_unused, kAsViews, a.names, a.first_bucket_bytes,
                                     more...);
  };
  if constexpr (kTakes<Reducer, bool, bool, std::vector<int64_t>>) {
    return make(false, false, std::vector<int64_t>());
  } else if constexpr (kTakes<Reducer, bool, bool>) {
    return make(false, false);
  } else if constexpr (kTakes<Reducer>) {
    return make();
  } else {
    return std::make_shared<Reducer>(a.parameters, a.buckets, a.bucket_limits, a.group,
                                     a.are_sparse, a.bucket_bytes, a.finds_unused, kAsViews,
                                     a.names, a.first_bucket_bytes);
  }
}

}  // namespace dlcheck::reference
