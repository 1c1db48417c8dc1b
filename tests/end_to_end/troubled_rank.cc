// Preloaded into a rank: gives it a trouble of its machine, which RANK_TROUBLE names.
//   slow_sync   each fsync takes seven seconds
//   clock       the time of day jumps a year ahead and back, every second
// With RANK_LINK, what it connects to on the loopback it reaches by the proxy at that port:
// rank_link.py.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
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

// Changes an address of the loopback into the one at which the proxy hears of it, and of this rank.
void GoByLink(sockaddr_storage& address, uint16_t link) {
  constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};  // RFC 4291, 2.5.5.2
  auto* four = reinterpret_cast<sockaddr_in*>(&address);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address);
  const bool is_mapped = address.ss_family == AF_INET6 &&
                         std::memcmp(six->sin6_addr.s6_addr, kMapped, sizeof(kMapped)) == 0;
  if (address.ss_family != AF_INET && !is_mapped) return;
  uint8_t* bytes = is_mapped ? six->sin6_addr.s6_addr + sizeof(kMapped)
                             : reinterpret_cast<uint8_t*>(&four->sin_addr);
  uint16_t& port = is_mapped ? six->sin6_port : four->sin_port;
  const uint32_t host = htonl(INADDR_LOOPBACK);
  if (std::memcmp(bytes, &host, sizeof(host)) != 0) return;
  const uint32_t rank = static_cast<uint32_t>(std::atoi(std::getenv("RANK")));
  const uint32_t by_link = htonl((127U << 24) | (uint32_t{ntohs(port)} << 8) | (rank + 1));
  std::memcpy(bytes, &by_link, sizeof(by_link));
  port = htons(link);
}

}  // namespace

extern "C" {

int connect(int file, const sockaddr* address, socklen_t size) {
  const auto next = Next<int(int, const sockaddr*, socklen_t)>("connect");
  const char* link = std::getenv("RANK_LINK");
  sockaddr_storage by_link{};
  if (link == nullptr || size > sizeof(by_link)) return next(file, address, size);
  std::memcpy(&by_link, address, size);
  int type = 0;
  socklen_t type_size = sizeof(type);
  getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &type_size);
  if (type == SOCK_STREAM) GoByLink(by_link, static_cast<uint16_t>(std::atoi(link)));
  return next(file, reinterpret_cast<const sockaddr*>(&by_link), size);
}

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
