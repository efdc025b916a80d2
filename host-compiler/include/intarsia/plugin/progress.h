// News of work that takes its time, for who waits for it. Whoever does the work calls a listener now and then, from any
// thread but from one at a time; results never depend on it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace intarsia {

struct Progress {
  std::string what;  // "planning memory": in the words of the user, without a full stop
  int64_t done = 0;
  int64_t total = 0;  // 0: not known

  // "compiling sources: 3 of 12"
  std::string text() const;
  // For listeners that take a line of text.
  operator std::string() const { return text(); }
};

// May be empty.
using ProgressListener = std::function<void(const Progress&)>;

}  // namespace intarsia
