// Preloaded into a rank: gives it a trouble of its machine, which RANK_TROUBLE names.
//   slow_sync   each fsync takes seven seconds
//   clock       the time of day jumps a year ahead and back, every second
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

bool Has(const char* trouble) {
  const char* text = std::getenv("RANK_TROUBLE");
  return text != nullptr && std::string(text) == trouble;
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

time_t Jumped(time_t seconds) {
  constexpr time_t kYear = 365 * 24 * 3600;
  return Has("clock") && seconds % 2 == 0 ? seconds + kYear : seconds;
}

}  // namespace

extern "C" {

int fsync(int descriptor) {
  if (Has("slow_sync")) sleep(7);
  return Next<int(int)>("fsync")(descriptor);
}

int clock_gettime(clockid_t clock, timespec* now) {
  const int result = Next<int(clockid_t, timespec*)>("clock_gettime")(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec = Jumped(now->tv_sec);
  return result;
}

int gettimeofday(timeval* now, void* zone) {
  const int result = Next<int(timeval*, void*)>("gettimeofday")(now, zone);
  now->tv_sec = Jumped(now->tv_sec);
  return result;
}

time_t time(time_t* now) {
  const time_t seconds = Jumped(Next<time_t(time_t*)>("time")(nullptr));
  if (now != nullptr) *now = seconds;
  return seconds;
}

}  // extern "C"
