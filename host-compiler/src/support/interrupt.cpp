#include "support/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

namespace intarsia::interrupt {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// Never destroyed: the thread that waits for signals outlives main.
struct Registry {
  std::mutex mutex;
  std::multiset<std::string> paths;
  std::set<pid_t> groups;
  std::atomic<bool> interrupted{false};
};
Registry& registry() {
  static Registry& only = *new Registry;
  return only;
}

[[noreturn]] void end_by(int signal) {
  Registry& all = registry();
  std::multiset<std::string> paths;
  {
    const std::lock_guard lock(all.mutex);
    all.interrupted = true;
    for (const pid_t group : all.groups) kill(-group, SIGKILL);
    paths = all.paths;
  }
  // Another thread may still be writing there; what it makes in between is met by the next round.
  for (int round = 0; round < 20; ++round) {
    bool left = false;
    for (const std::string& path : paths) {
      std::error_code error;
      std::filesystem::remove_all(path, error);
      left |= std::filesystem::exists(path, error);
    }
    if (!left) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  kill(getpid(), signal);
  _exit(128 + signal);
}

}  // namespace

void take_over() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : kSignals) {
    // Who started us may have said that it is not to end us, as nohup does.
    struct sigaction now = {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    sigaddset(&ours, signal);
  }
  pthread_sigmask(SIG_BLOCK, &ours, nullptr);
  registry();
  std::thread([ours] {
    int signal = 0;
    while (sigwait(&ours, &signal) != 0) {
    }
    end_by(signal);
  }).detach();
}

RemovedPath::RemovedPath(std::string path) : path_(std::move(path)) {
  wait_if_interrupted();
  const std::lock_guard lock(registry().mutex);
  registry().paths.insert(path_);
}

RemovedPath::~RemovedPath() {
  if (path_.empty()) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.paths.find(path_); found != all.paths.end()) all.paths.erase(found);
}

Starting::Starting() {
  wait_if_interrupted();
  registry().mutex.lock();
}

Starting::~Starting() {
  registry().mutex.unlock();
}

void Starting::started(pid_t group) {
  registry().groups.insert(group);
}

void ended(pid_t group) {
  wait_if_interrupted();
  const std::lock_guard lock(registry().mutex);
  registry().groups.erase(group);
}

void wait_if_interrupted() {
  while (registry().interrupted) pause();
}

}  // namespace intarsia::interrupt
