// Judges from what ranks say of themselves, and from what they do not say, which of them is to
// blame when a run of many cannot go on. It knows no clock and no network: heartbeat.h feeds it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace dlcheck::reference {

// What a rank last said of itself.
struct Word {
  enum class State {
    kGoesOn,
    kFailed,  // of itself, whatever the others do
    kCutOff,  // an exchange with the others failed
    kDone,    // needs the others no more
  };
  int64_t beat = 0;  // grows with each word
  State state = State::kGoesOn;
  int64_t step = 0;
  std::string why;  // of kFailed and kCutOff, one line
};

// As text, and back; of what is no such text, a word of beat 0.
std::string Spelled(const Word& word);
Word WordIn(const std::string& text);

// Which rank is to blame, and a line that names it. -1: none of them, but who started them, or what
// is between them.
struct Verdict {
  int64_t rank;
  std::string line;
};

class FailureDetector {
 public:
  struct Limits {
    // Without a sign of life for so long, a rank is lost, though nothing else is amiss: long enough
    // for one that merely gets little of its processor.
    std::chrono::milliseconds silence{10000};
    // Without a sign of life for so long, it is lost if an exchange has failed.
    std::chrono::milliseconds suspicion{2000};
  };

  // The first rank watches all others and judges for all, so that they are of one mind. Another
  // watches the first alone.
  FailureDetector(int64_t own, int64_t world, const Limits& limits);

  // Also of the rank itself. A word that was heard before is no sign of life.
  void Hear(int64_t rank, const Word& word);

  // `time` went by in which this process ran; that in which it was stopped itself is no silence of
  // others.
  void Pass(std::chrono::milliseconds time);

  // None while all is well, or while it is not known yet.
  std::optional<Verdict> Blame() const;

  // Whether none of those that are watched goes on or waits for a verdict. One that has been silent
  // for longer than `longest_silence` is not waited for.
  bool AreOthersDone(std::chrono::milliseconds longest_silence) const;

 private:
  std::optional<Verdict> Silent(std::chrono::milliseconds limit, const char* what) const;
  std::optional<Verdict> Failed() const;
  std::optional<Verdict> Absent() const;
  std::optional<Verdict> OutOfTouch() const;

  const int64_t own_;
  const Limits limits_;
  std::map<int64_t, Word> words_;
  std::map<int64_t, std::chrono::milliseconds> silences_;  // of those that are watched
  std::chrono::milliseconds trouble_{0};                   // since an exchange failed
};

}  // namespace dlcheck::reference
