// Threads that share the work of the one that starts them.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace intarsia {

class WorkerThreads {
 public:
  WorkerThreads() = default;
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads();

  // False where the system starts no more threads: those that run do all of the work then, and so does the caller alone.
  bool start(std::function<void()> work);

  // How many are still at work.
  size_t running() const { return running_; }

  // Waits for all of them. What ended one of them, the shortage of memory say, is thrown here.
  void join();

 private:
  std::vector<std::thread> threads_;
  std::atomic<size_t> running_ = 0;
  std::mutex guard_;
  std::exception_ptr failure_;
};

}  // namespace intarsia
