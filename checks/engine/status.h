// The two macros that absl::Status users expect and that the packaged Abseil does not have, and the
// way from a records Failure to a Status. To be dropped for Abseil's own when it has them.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checks/records/expected.h"

#define DLCHECK_RETURN_IF_ERROR(expression)                                 \
  do {                                                                      \
    if (absl::Status dlcheck_status = (expression); !dlcheck_status.ok()) { \
      return dlcheck_status;                                                \
    }                                                                       \
  } while (false)

#define DLCHECK_CONCAT_INNER(a, b) a##b
#define DLCHECK_CONCAT(a, b) DLCHECK_CONCAT_INNER(a, b)
#define DLCHECK_ASSIGN_OR_RETURN(declaration, expression) \
  DLCHECK_ASSIGN_OR_RETURN_AS(DLCHECK_CONCAT(dlcheck_or_, __LINE__), declaration, expression)
#define DLCHECK_ASSIGN_OR_RETURN_AS(name, declaration, expression) \
  auto name = (expression);                                        \
  if (!name.ok()) return name.status();                            \
  declaration = *std::move(name)

namespace dlcheck {

inline absl::Status ToStatus(const Failure& failure) {
  switch (failure.cause) {
    case Failure::Cause::kNotFound:
      return absl::NotFoundError(failure.message);
    case Failure::Cause::kDamaged:
      return absl::DataLossError(failure.message);
    case Failure::Cause::kUnavailable:
      return absl::UnavailableError(failure.message);
    case Failure::Cause::kInvalid:
    case Failure::Cause::kNewer:
      return absl::InvalidArgumentError(failure.message);
  }
  return absl::InternalError(failure.message);
}

template <typename T>
absl::StatusOr<T> ToStatusOr(Expected<T> expected) {
  if (!expected.ok()) return ToStatus(expected.failure());
  return *std::move(expected);
}

}  // namespace dlcheck
