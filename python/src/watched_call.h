// A call into the library: without Python's lock, so that other threads of Python go on; watched, so that Ctrl-C and an
// exception of a callback end it; and with faults of the library as exceptions.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

#include "intarsia/diagnostics.h"
#include "intarsia/result.h"
#include "intarsia/watch.h"

namespace intarsia::python {

// Becomes intarsia.Error.
struct ProblemsFound : std::exception {
  explicit ProblemsFound(Diagnostics found) : problems(std::move(found)) {}
  const char* what() const noexcept override { return "the library refused"; }
  Diagnostics problems;
};

// A broken invariant (INTARSIA_CHECK); becomes intarsia.InternalError.
struct LibraryFault : std::exception {
  explicit LibraryFault(std::string text) : message(std::move(text)) {}
  const char* what() const noexcept override { return message.c_str(); }
  std::string message;
};

template <typename T>
T value_or_raise(Result<T> result) {
  if (!result.ok()) throw ProblemsFound(result.error());
  return std::move(result).value();
}
inline void value_or_raise(const Result<void>& result) {
  if (!result.ok()) throw ProblemsFound(result.error());
}

// Once, when the module is imported: faults become exceptions in threads that are inside a call, and what they were elsewhere.
void take_over_faults();

// While it lives, this thread is inside a call.
class FaultScope {
 public:
  FaultScope();
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;
};

// Calls progress(stage, detail), a callable of Python or None, and keeps what goes wrong there or by a signal.
class Watcher {
 public:
  explicit Watcher(nanobind::object progress) : progress_(std::move(progress)) {}

  // Of the thread that made the call, as Watch::GoesOn.
  bool goes_on(std::string_view stage);
  // By any thread: what is done within the stage; how much of a whole. False: whoever asked wants no more.
  bool tell(const std::string& detail);
  bool tell(size_t done, size_t all);
  // With Python's lock: raises what was kept.
  void raise_what_was_kept();

 private:
  void keep();
  template <typename... Arguments>
  bool call(const Arguments&... arguments);

  nanobind::object progress_;
  std::string stage_;
  std::mutex mutex_;  // of `kept_`; nobody waits for Python's lock while holding it
  std::exception_ptr kept_;
  std::atomic<bool> stopped_ = false;
};

// Runs `work(watcher)`, which returns a Result, without Python's lock; the value, or an exception.
template <typename Work>
auto watched_call(const nanobind::object& progress, Work&& work) {
  Watcher watcher(progress);
  using Answer = std::invoke_result_t<Work, Watcher&>;
  std::optional<Answer> answer;
  {
    const nanobind::gil_scoped_release released;
    const Watch watch([&](std::string_view stage) { return watcher.goes_on(stage); });
    const FaultScope inside;
    answer.emplace(work(watcher));
  }
  watcher.raise_what_was_kept();
  return value_or_raise(*std::move(answer));
}

}  // namespace intarsia::python
