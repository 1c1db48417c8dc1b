#include "reference/distributed/health/failure_detector.h"

#include <cstdio>
#include <sstream>

namespace dlcheck::reference {
namespace {

using State = Word::State;
using std::chrono::milliseconds;

constexpr char kStates[] = {'g', 'f', 'c', 'd'};  // in the order of State

std::string Named(int64_t rank) { return "rank " + std::to_string(rank); }

// By gloo's words, of the operation that waited and of others on the same connection.
bool IsTimeout(const std::string& why) {
  return why.find("Timed out") != std::string::npos || why.find("timeout") != std::string::npos;
}

std::string Seconds(milliseconds time) {
  constexpr double kSecond = 1000;
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", static_cast<double>(time.count()) / kSecond);
  return text;
}

}  // namespace

std::string Spelled(const Word& word) {
  return std::to_string(word.beat) + " " + kStates[static_cast<size_t>(word.state)] + " " +
         std::to_string(word.step) + " " + word.why;
}

Word WordIn(const std::string& text) {
  Word word;
  char state = 0;
  std::istringstream stream(text);
  if (!(stream >> word.beat >> state >> word.step)) return Word();
  stream.ignore();
  std::getline(stream, word.why);
  for (size_t i = 0; i < sizeof(kStates); ++i) {
    if (kStates[i] == state) word.state = static_cast<State>(i);
  }
  return word;
}

FailureDetector::FailureDetector(int64_t own, int64_t world, const Limits& limits)
    : own_(own), limits_(limits) {
  const int64_t watched = own == 0 ? world : 1;
  for (int64_t rank = 0; rank < watched; ++rank) {
    words_[rank] = Word();
    if (rank != own) silences_[rank] = milliseconds(0);
  }
}

void FailureDetector::Hear(int64_t rank, const Word& word) {
  if (word.beat != words_[rank].beat && silences_.count(rank) > 0)
    silences_[rank] = milliseconds(0);
  words_[rank] = word;
}

void FailureDetector::Pass(milliseconds time) {
  for (auto& [rank, silence] : silences_) silence += time;
  for (const auto& [rank, word] : words_) {
    if (word.state != State::kCutOff) continue;
    trouble_ += time;
    return;
  }
}

std::optional<Verdict> FailureDetector::Blame() const {
  if (auto stopped = Silent(limits_.silence, "is stopped or cannot be reached")) return stopped;
  if (own_ == 0) {
    if (auto failed = Failed()) return failed;
  }
  if (trouble_ < limits_.suspicion) return std::nullopt;
  // A living one speaks more than once in that time.
  if (auto gone = Silent(limits_.suspicion * 3 / 4, "is gone")) return gone;
  if (own_ != 0) return std::nullopt;
  if (auto absent = Absent()) return absent;
  return OutOfTouch();
}

bool FailureDetector::AreOthersDone(milliseconds longest_silence) const {
  for (const auto& [rank, silence] : silences_) {
    const State state = words_.at(rank).state;
    const bool is_done = state == State::kDone || state == State::kFailed;
    if (!is_done && silence <= longest_silence) return false;
  }
  return true;
}

// The one that has said nothing for the longest time, if that is as long as `limit`.
std::optional<Verdict> FailureDetector::Silent(milliseconds limit, const char* what) const {
  std::optional<Verdict> found;
  milliseconds longest = limit;
  for (const auto& [rank, silence] : silences_) {
    const Word& word = words_.at(rank);
    if (word.state != State::kGoesOn || silence < longest) continue;
    longest = silence;
    found = {rank, Named(rank) + " " + what + ": no sign of life for " + Seconds(silence) +
                       ", last seen at step " + std::to_string(word.step)};
  }
  return found;
}

std::optional<Verdict> FailureDetector::Failed() const {
  for (const auto& [rank, word] : words_) {
    if (word.state != State::kFailed) continue;
    return Verdict{rank,
                   Named(rank) + " failed at step " + std::to_string(word.step) + ": " + word.why};
  }
  return std::nullopt;
}

// Who lives, but has not come to where the others waited for as long as they are to.
std::optional<Verdict> FailureDetector::Absent() const {
  bool is_late = false;
  for (const auto& [rank, word] : words_) {
    const bool is_cut_off = word.state == State::kCutOff;
    is_late = is_late || (is_cut_off && IsTimeout(word.why));
  }
  for (const auto& [rank, word] : words_) {
    if (!is_late || word.state != State::kGoesOn) continue;
    return Verdict{rank, Named(rank) +
                             " lives, but did not come within collective-timeout to where " +
                             "the others waited, last seen at step " + std::to_string(word.step)};
  }
  return std::nullopt;
}

// All live, and the connections between some of them broke: nobody's fault.
std::optional<Verdict> FailureDetector::OutOfTouch() const {
  std::string names;
  Word cause;  // a time-out rather than that another then closed its connections
  for (const auto& [rank, word] : words_) {
    if (word.state != State::kCutOff) continue;
    if (names.empty() || (IsTimeout(word.why) && !IsTimeout(cause.why))) cause = word;
    names += (names.empty() ? "rank " : ", ") + std::to_string(rank);
  }
  if (names.empty()) return std::nullopt;
  return Verdict{-1, names + " lost touch with the others at step " + std::to_string(cause.step) +
                         ": " + cause.why};
}

}  // namespace dlcheck::reference
