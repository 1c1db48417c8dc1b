#include "reference/distributed/health/heartbeat.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "reference/distributed/health/ranks_lost.h"

namespace dlcheck::reference {
namespace {

using Clock = std::chrono::steady_clock;
using State = Word::State;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenWords{250};
constexpr milliseconds kBetweenLooks{100};
// A look that comes later than that comes late because this process was stopped.
constexpr milliseconds kLongestLook{300};
// In which a main thread that learns of a loss by itself ends the process as it should.
constexpr milliseconds kForMainThread{1000};
constexpr milliseconds kToBeHeard{2000};
// A rank that lives is never silent for longer, unless it gets little of its processor.
constexpr milliseconds kOfTheLiving{1000};

std::string KeyOf(int64_t rank) { return "word/" + std::to_string(rank); }
constexpr char kVerdict[] = "verdict";

std::string TextOf(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

std::optional<Verdict> VerdictIn(const std::string& text) {
  const size_t cut = text.find(' ');
  if (cut == std::string::npos) return std::nullopt;
  return Verdict{std::stoll(text), text.substr(cut + 1)};
}

}  // namespace

// What the main thread, the one that talks to the store and the one that judges have in common. The
// second may be stuck for ever in a store that does not answer, and then outlives the Heartbeat.
struct Heartbeat::Shared {
  Shared(const Placement& place, const FailureDetector::Limits& limits)
      : placement(place),
        is_first(place.rank == 0),
        detector(place.rank, place.world, limits),
        heard(static_cast<size_t>(is_first ? place.world : 1)) {}

  void Exchange(c10d::Store& store);
  void Watch();
  void Listen(const std::vector<std::vector<uint8_t>>& texts);
  void Look(milliseconds time);
  void EndBy(std::unique_lock<std::mutex>& lock);
  void Say(State state, const std::string& why);
  Verdict Own() const;
  bool IsTold() const { return told == version || is_broken; }

  const Placement placement;
  const bool is_first;
  std::atomic<int64_t> step{0};

  std::mutex mutex;  // of all below
  std::condition_variable changed;
  FailureDetector detector;
  std::vector<Word> heard;  // by rank; but for the first rank, of that alone
  Word own;
  int64_t version = 1, told = 0;  // of `own` and of the verdict, and which of them the store has
  std::optional<Verdict> verdict;
  bool is_broken = false;   // the store is gone
  bool is_ending = false;   // the main thread ends the process
  bool is_settled = false;  // the verdict is with all that need it
  bool is_over = false;     // the threads are to end
  bool has_ended = false;   // the one that talks to the store
};

// Talks to the store until it is over, or the store is gone.
void Heartbeat::Shared::Exchange(c10d::Store& store) try {
  std::vector<std::string> keys = {kVerdict};
  for (size_t rank = 0; rank < heard.size(); ++rank) {
    keys.push_back(KeyOf(static_cast<int64_t>(rank)));
  }
  std::unique_lock lock(mutex);
  while (!is_over) {
    ++own.beat;
    own.step = step;
    const std::string word = Spelled(own);
    const std::string judged =
        is_first && verdict ? std::to_string(verdict->rank) + " " + verdict->line : "";
    const int64_t telling = version;
    lock.unlock();
    store.set(KeyOf(placement.rank), word);
    if (!judged.empty()) store.set(kVerdict, judged);
    const std::vector<std::vector<uint8_t>> texts = store.multiGet(keys);
    lock.lock();
    told = telling;
    Listen(texts);
    changed.notify_all();
    changed.wait_for(lock, kBetweenWords, [&] { return version != told || is_over; });
  }
  has_ended = true;
  changed.notify_all();
} catch (const std::exception&) {
  const std::lock_guard lock(mutex);
  is_broken = has_ended = true;
  changed.notify_all();
}

void Heartbeat::Shared::Listen(const std::vector<std::vector<uint8_t>>& texts) {
  if (!verdict) verdict = VerdictIn(TextOf(texts.front()));
  for (size_t rank = 0; rank < heard.size(); ++rank) {
    heard[rank] = WordIn(TextOf(texts[rank + 1]));
  }
}

// Judges until it is over, or ends the process.
void Heartbeat::Shared::Watch() {
  std::unique_lock lock(mutex);
  Clock::time_point last = Clock::now();
  while (!is_over && !verdict) {
    changed.wait_for(lock, kBetweenLooks);
    const Clock::time_point now = Clock::now();
    const auto time = std::chrono::duration_cast<milliseconds>(now - last);
    last += time;
    Look(std::min(time, kLongestLook));
  }
  if (!is_over) EndBy(lock);
}

void Heartbeat::Shared::Look(milliseconds time) {
  detector.Pass(time);
  for (size_t rank = 0; rank < heard.size(); ++rank) {
    if (static_cast<int64_t>(rank) != placement.rank) {
      detector.Hear(static_cast<int64_t>(rank), heard[rank]);
    }
  }
  detector.Hear(placement.rank, own);
  const bool is_done = own.state == State::kDone;
  if (!verdict && (is_first || !is_done || !IsTold())) verdict = detector.Blame();
  if (!verdict && is_broken && !is_done) {
    const std::string where = placement.address + ":" + std::to_string(placement.port);
    verdict =
        placement.is_served_elsewhere
            ? Verdict{-1, "what started the ranks is gone from " + where}
            : Verdict{0, "rank 0 is gone or cannot be reached: the connection to " + where +
                             " broke, last seen at step " + std::to_string(heard.front().step)};
  }
}

// Waits until those that need the verdict have it, and ends the process unless the main thread
// does.
void Heartbeat::Shared::EndBy(std::unique_lock<std::mutex>& lock) {
  if (own.state != State::kFailed) own.state = State::kDone;
  ++version;
  changed.notify_all();
  changed.wait_for(lock, kForMainThread, [&] { return is_ending; });
  const Clock::time_point end = Clock::now() + kToBeHeard;
  while (!IsTold() || (is_first && !detector.AreOthersDone(kOfTheLiving))) {
    if (is_broken || changed.wait_until(lock, end) == std::cv_status::timeout) break;
    Look(milliseconds(0));
  }
  is_settled = true;
  changed.notify_all();
  if (!is_ending) EndAsLost(placement.rank, Own().line);
}

// The verdict as this rank says it.
Verdict Heartbeat::Shared::Own() const {
  if (verdict->rank != placement.rank) return *verdict;
  return {verdict->rank, "given up by the others: " + verdict->line};
}

void Heartbeat::Shared::Say(State state, const std::string& why) {
  is_ending = true;
  own.state = state;
  own.why = why.substr(0, why.find('\n'));
  ++version;
  changed.notify_all();
}

void Heartbeat::Announce(c10d::Store& store, int64_t rank) {
  if (rank == 0) store.set(kVerdict, std::string());
  store.set(KeyOf(rank), Spelled(Word()));
}

Heartbeat::Heartbeat(c10::intrusive_ptr<c10d::Store> store, const Placement& placement,
                     const FailureDetector::Limits& limits)
    : shared_(std::make_shared<Shared>(placement, limits)),
      exchange_([shared = shared_, store = std::move(store)] { shared->Exchange(*store); }),
      watch_([shared = shared_] { shared->Watch(); }) {}

Heartbeat::~Heartbeat() {
  {
    std::unique_lock lock(shared_->mutex);
    shared_->is_ending = shared_->is_over = true;
    shared_->changed.notify_all();
    shared_->changed.wait_for(lock, kToBeHeard, [&] { return shared_->has_ended; });
    if (!shared_->has_ended) exchange_.detach();
  }
  if (exchange_.joinable()) exchange_.join();
  watch_.join();
}

void Heartbeat::At(int64_t step) { shared_->step = step; }

std::optional<Verdict> Heartbeat::Fail(const std::string& why, bool is_cut_off) {
  Shared& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  shared.Say(is_cut_off ? State::kCutOff : State::kFailed, why);
  if (is_cut_off || shared.is_first) {
    shared.changed.wait(lock, [&] { return shared.is_settled; });
  } else {
    shared.changed.wait_for(lock, kToBeHeard, [&] { return shared.IsTold(); });
  }
  return is_cut_off ? std::optional(shared.Own()) : std::nullopt;
}

std::optional<Verdict> Heartbeat::Leave() {
  Shared& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  shared.Say(State::kDone, "");
  shared.changed.wait(lock, [&] {
    const bool can_leave =
        shared.IsTold() && (!shared.is_first || shared.detector.AreOthersDone(milliseconds::max()));
    return can_leave || shared.is_settled;
  });
  return shared.verdict;
}

}  // namespace dlcheck::reference
