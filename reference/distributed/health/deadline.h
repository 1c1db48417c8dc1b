// Ends the process when a call that knows no time-out has not returned.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace dlcheck::reference {

class Deadline {
 public:
  // Unless it is destroyed within `limit`, the process ends as EndAsLost(rank, why) has it.
  Deadline(std::chrono::milliseconds limit, int64_t rank, const std::string& why);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_met_ = false;
  std::thread thread_;
};

}  // namespace dlcheck::reference
