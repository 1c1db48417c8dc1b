// A value or the reason why there is none. Stands in for absl::StatusOr in code that is also
// compiled in users' builds (records) or that must not link Abseil (fixtures). The supervisor turns
// a Failure into an absl::Status at its border.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace dlcheck {

struct Failure {
  enum class Cause {
    kInvalid,      // the file or argument is not what it should be: the user can mend it
    kNotFound,     // nothing is there
    kDamaged,      // it was right once and is torn or overwritten now
    kNewer,        // written by a later version than this one reads
    kUnavailable,  // the system refused: permission, disk full, no memory
  };
  Cause cause;
  std::string message;  // names the file and the cause, without a full stop
};

template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::move(value)) {}            // NOLINT: meant to convert
  Expected(Failure failure) : state_(std::move(failure)) {}  // NOLINT: meant to convert

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  // REQUIRES: !ok().
  const Failure& failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

// Where there is nothing to return but success.
struct Done {};

}  // namespace dlcheck
