#include "support/worker_threads.h"

#include <system_error>
#include <utility>

namespace intarsia {

WorkerThreads::~WorkerThreads() {
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerThreads::start(std::function<void()> work) {
  ++running_;
  try {
    threads_.emplace_back([this, work = std::move(work)] {
      try {
        work();
      } catch (...) {
        const std::lock_guard lock(guard_);
        if (!failure_) failure_ = std::current_exception();
      }
      --running_;
    });
  } catch (const std::system_error&) {
    --running_;
    return false;
  }
  return true;
}

void WorkerThreads::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace intarsia
