#include "support/interrupt.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
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

// The lock of the registry, as long as the program is not interrupted: what is registered later would not be removed, so
// that nothing may be made any more.
std::unique_lock<std::mutex> lock_while_it_lives() {
  for (;;) {
    std::unique_lock lock(registry().mutex);
    if (!registry().interrupted) return lock;
    lock.unlock();
    wait_if_interrupted();
  }
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
  // Other threads may still be writing there, and make a folder again that was removed: what they make in between is met by
  // the next rounds, until for a while nothing has come back. They wait at the next path or process that they register.
  constexpr int kMostRounds = 20, kQuietRounds = 3;
  for (int round = 0, quiet = 0; round < kMostRounds && quiet < kQuietRounds; ++round) {
    bool was_there = false;
    for (const std::string& path : paths) {
      std::error_code error;
      was_there |= std::filesystem::exists(path, error);
      std::filesystem::remove_all(path, error);
    }
    quiet = was_there ? 0 : quiet + 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
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
  // A file that may not become longer is a failure of its writing, and not the program's end with all that it leaves.
  signal(SIGXFSZ, SIG_IGN);
  registry();
  try {
    std::thread([ours] {
      int signal = 0;
      while (sigwait(&ours, &signal) != 0) {
      }
      end_by(signal);
    }).detach();
  } catch (const std::system_error&) {
    // No thread can be had: a signal ends the program as usual, and leaves the files that it was writing.
    pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
  }
}

RemovedPath::RemovedPath(std::string path) : path_(std::move(path)) {
  const auto lock = lock_while_it_lives();
  registry().paths.insert(path_);
}

RemovedPath RemovedPath::new_folder(std::string pattern) {
  const auto lock = lock_while_it_lives();
  if (mkdtemp(pattern.data()) == nullptr) pattern.clear();
  RemovedPath made;
  made.path_ = std::move(pattern);
  if (!made.path_.empty()) registry().paths.insert(made.path_);
  return made;
}

// mkostemps() would make it for its owner alone, whatever umask says.
RemovedPath RemovedPath::new_file(const std::string& beginning, const std::string& end) {
  static std::atomic<unsigned> count{0};
  const auto lock = lock_while_it_lives();
  RemovedPath made;
  int descriptor = -1;
  do {
    // Other machines that write to the folder have processes of the same number.
    made.path_ =
        beginning + std::to_string(getpid()) + "-" + std::to_string(count.fetch_add(1)) + end;
    descriptor = open(made.path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0) {
    made.path_.clear();
    return made;
  }
  close(descriptor);
  registry().paths.insert(made.path_);
  return made;
}

RemovedPath::~RemovedPath() {
  if (path_.empty()) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.paths.find(path_); found != all.paths.end()) all.paths.erase(found);
}

Starting::Starting() {
  lock_while_it_lives().release();
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
