#include "support/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

#include "support/interrupt.h"
#include "support/watched.h"

extern char** environ;

namespace intarsia {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval{100};
constexpr std::chrono::milliseconds kGrace{500};  // between asking a program to end and ending it

// An owned file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int get() const { return value_; }
  bool open() const { return value_ >= 0; }
  void reset(int value) {
    close();
    value_ = value;
  }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;

  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
    return true;
  }
};

// 0 and the process, or an errno. The child has a process group of its own, so that it can be ended with
// all that it has started; interrupt.h ends it when we are interrupted.
int spawn(const std::vector<std::string>& command, const ProcessOptions& options, const Pipe& out,
          const Pipe& err, pid_t* process) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end.get(), STDERR_FILENO);
  if (!options.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (const std::string& variable : options.environment)
    environment.push_back(const_cast<char*>(variable.c_str()));
  for (char** inherited = environ; *inherited != nullptr; ++inherited) {
    const std::string_view name =
        std::string_view(*inherited).substr(0, std::string_view(*inherited).find('=') + 1);
    const bool is_replaced =
        std::any_of(options.environment.begin(), options.environment.end(),
                    [&](const std::string& own) { return own.starts_with(name); });
    if (!is_replaced) environment.push_back(*inherited);
  }
  environment.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;  // of signals that we wait for in a thread of our own
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t usual;  // what we ignore ourselves
  sigemptyset(&usual);
  sigaddset(&usual, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  interrupt::Starting starting;
  const int problem = posix_spawnp(process, arguments[0], &actions, &attributes, arguments.data(),
                                   environment.data());
  if (problem == 0) starting.started(*process);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

void drain(Descriptor& from, std::string& to) {
  std::array<char, 16384> buffer;
  const ssize_t got = read(from.get(), buffer.data(), buffer.size());
  if (got > 0) {
    to.append(buffer.data(), static_cast<size_t>(got));
  } else if (got == 0 || errno != EINTR) {
    from.close();
  }
}

// One look at both pipes, for at most `wait`.
void read_some(Pipe& out, Pipe& err, ProcessOutcome& outcome, std::chrono::milliseconds wait) {
  std::array<pollfd, 2> watched{pollfd{out.read_end.get(), POLLIN, 0},
                                pollfd{err.read_end.get(), POLLIN, 0}};
  if (poll(watched.data(), watched.size(), static_cast<int>(wait.count())) <= 0) return;
  if (watched[0].revents != 0) drain(out.read_end, outcome.out);
  if (watched[1].revents != 0) drain(err.read_end, outcome.err);
}

void set_ending(int status, ProcessOutcome& outcome) {
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
}

// Asks the process and all it has started to end, so that it may clean up, and ends them.
void end_group(pid_t process, int* status) {
  kill(-process, SIGTERM);
  const Clock::time_point limit = Clock::now() + kGrace;
  bool gone = false;
  while (!gone && Clock::now() < limit) {
    gone = waitpid(process, status, WNOHANG) != 0;
    if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(-process, SIGKILL);
  if (!gone) waitpid(process, status, 0);
}

bool is_wanted(const ProcessOptions& options) {
  return watched::is_wanted() && (!options.is_wanted || options.is_wanted());
}

void watch(pid_t process, const ProcessOptions& options, Pipe& out, Pipe& err,
           ProcessOutcome& outcome) {
  const Clock::time_point start = Clock::now();
  Clock::time_point next_call = start + kPollInterval;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    const Clock::time_point now = Clock::now();
    const bool is_late = options.timeout.count() > 0 && now - start > options.timeout;
    if (is_late || !is_wanted(options)) {
      outcome.timed_out = is_late;
      end_group(process, &status);
      break;
    }
    if (options.on_wait && now >= next_call) {
      options.on_wait();
      next_call = now + kPollInterval;
    }
    // Both pipes closed and the process still there: nothing to poll for, so a short sleep.
    const bool quiet = !out.read_end.open() && !err.read_end.open();
    read_some(out, err, outcome, std::chrono::milliseconds(quiet ? 2 : 20));
  }
  set_ending(status, outcome);
  // What is still in the pipes. Not until they close: a grandchild may hold them open.
  size_t before;
  do {
    before = outcome.out.size() + outcome.err.size();
    read_some(out, err, outcome, std::chrono::milliseconds(0));
  } while (outcome.out.size() + outcome.err.size() > before);
}

}  // namespace

std::string ProcessOutcome::ending() const {
  if (timed_out) return "stopped after its time limit";
  if (signal != 0) return fmt::format("signal {} ({})", signal, strsignal(signal));
  return fmt::format("exit status {}", exit_code);
}

Result<ProcessOutcome> run_process(const std::vector<std::string>& command,
                                   const ProcessOptions& options) {
  INTARSIA_CHECK(!command.empty(), "a command has a program");
  Pipe out, err;
  if (!out.open() || !err.open()) {
    return Diagnostics(command[0], fmt::format("no pipe to read its output: {}", strerror(errno)));
  }
  pid_t process = 0;
  const int problem = spawn(command, options, out, err, &process);
  if (problem != 0) {
    return Diagnostics(command[0], fmt::format("cannot be started: {}", strerror(problem)),
                       problem == ENOENT ? "install it or put it in PATH" : "");
  }
  out.write_end.close();
  err.write_end.close();
  ProcessOutcome outcome;
  watch(process, options, out, err, outcome);
  interrupt::ended(process);
  if (!is_wanted(options)) return watched::stopped();
  return outcome;
}

std::string command_line_text(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("-_=+,./:@%", c);
    });
    if (plain) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace intarsia
