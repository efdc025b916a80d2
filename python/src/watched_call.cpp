#include "watched_call.h"

#include <cstdio>

#include <nanobind/stl/string.h>

#include "intarsia/check_handler.h"

namespace nb = nanobind;

namespace intarsia::python {
namespace {

thread_local int calls_of_this_thread = 0;
CheckHandler handler_before = nullptr;

void on_fault(const std::string& message) {
  if (calls_of_this_thread > 0) throw LibraryFault(message);
  if (handler_before != nullptr) return handler_before(message);
  std::fprintf(stderr, "%s\n", message.c_str());
}

}  // namespace

void take_over_faults() {
  handler_before = set_check_handler(on_fault);
}

FaultScope::FaultScope() {
  ++calls_of_this_thread;
}

FaultScope::~FaultScope() {
  --calls_of_this_thread;
}

void Watcher::keep() {
  const std::lock_guard lock(mutex_);
  if (!kept_) kept_ = std::current_exception();
  stopped_ = true;
}

bool Watcher::goes_on(std::string_view stage) {
  if (stopped_) return false;
  const nb::gil_scoped_acquire acquired;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!stage.empty() && !progress_.is_none()) {
      stage_ = stage;
      progress_(stage_, "");
    }
  } catch (...) {
    keep();
  }
  return !stopped_;
}

template <typename... Arguments>
bool Watcher::call(const Arguments&... arguments) {
  if (stopped_) return false;
  if (progress_.is_none()) return true;
  const nb::gil_scoped_acquire acquired;
  try {
    progress_(arguments...);
  } catch (...) {
    keep();
  }
  return !stopped_;
}

bool Watcher::tell(const std::string& detail) {
  return call(stage_, detail);
}

bool Watcher::tell(size_t done, size_t all) {
  return call(done, all);
}

void Watcher::raise_what_was_kept() {
  const std::lock_guard lock(mutex_);
  if (kept_) std::rethrow_exception(kept_);
}

}  // namespace intarsia::python
