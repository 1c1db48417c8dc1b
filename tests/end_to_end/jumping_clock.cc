// Preloaded into dlcheck: its wall clock jumps by JUMP_SECONDS a third of a second after the start,
// as where somebody sets it. The monotonic clock goes on.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace {

using ClockGetTime = int (*)(clockid_t, timespec*);

constexpr int64_t kNanoseconds = 1'000'000'000, kCalm = kNanoseconds / 3;

ClockGetTime Real() {
  static const auto real = reinterpret_cast<ClockGetTime>(dlsym(RTLD_NEXT, "clock_gettime"));
  return real;
}

int64_t Monotonic() {
  timespec now;
  Real()(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNanoseconds + now.tv_nsec;
}

const int64_t start = Monotonic();

// Seconds that the wall clock is wrong by now.
time_t Jump() {
  const char* const seconds = std::getenv("JUMP_SECONDS");
  const bool is_meant =
      seconds != nullptr && std::strcmp(program_invocation_short_name, "dlcheck") == 0;
  return is_meant && Monotonic() - start > kCalm ? std::atoll(seconds) : 0;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int result = Real()(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += Jump();
  return result;
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec precise;
  const int result = clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return result;
}

time_t time(time_t* now) noexcept {
  timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != nullptr) *now = precise.tv_sec;
  return precise.tv_sec;
}
}
