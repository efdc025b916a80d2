// Long work, watched by who started it: told which stage it has come to, and asked now and then whether to go on.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

namespace intarsia {

// While it lives, what this thread does in the library calls `goes_on`: with the name of a stage when that begins
// ("import", "partition", ... as stage_named() has them, and "measure"), and with "" in between, at most fifty times a
// second. Once it has returned false it is not called again, and the work ends as soon as it can, with a failure that says
// so; programs that were started are ended. Watches nest; the innermost is asked.
class Watch {
 public:
  // Returns whether the work goes on.
  using GoesOn = std::function<bool(std::string_view stage)>;
  explicit Watch(GoesOn goes_on);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

 private:
  friend struct WatchedThread;
  bool asks(std::string_view stage);

  GoesOn goes_on_;
  Watch* outer_;
  bool wanted_ = true;
  std::chrono::steady_clock::time_point asked_ = {};
};

}  // namespace intarsia
