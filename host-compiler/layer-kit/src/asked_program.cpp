#include "intarsia/layers/asked_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace intarsia::layers {
namespace {

constexpr int kAnswerMilliseconds = 30000;

// A line without its end; nothing where it does not come.
std::optional<std::string> read_line(int from) {
  std::string line;
  for (char c = 0;;) {
    pollfd ready{from, POLLIN, 0};
    if (poll(&ready, 1, kAnswerMilliseconds) != 1 || read(from, &c, 1) != 1) return std::nullopt;
    if (c == '\n') return line;
    line += c;
  }
}

}  // namespace

AskedProgram::~AskedProgram() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0 && from_ != to_) close(from_);
  if (process_ > 0) {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
}

// One socket for both ways, so that writing to a program that has ended is an error and no signal.
bool AskedProgram::start() {
  int ends[2];
  if (command_.empty() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return false;
  std::vector<char*> words;
  for (std::string& word : command_) words.push_back(word.data());
  words.push_back(nullptr);
  process_ = fork();
  if (process_ == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (dup2(ends[1], STDIN_FILENO) < 0 || dup2(ends[1], STDOUT_FILENO) < 0 ||
        dup2(nowhere, STDERR_FILENO) < 0)
      _exit(127);
    execvp(words[0], words.data());
    _exit(127);
  }
  command_.clear();  // it is started once
  close(ends[1]);
  to_ = from_ = ends[0];
  return process_ > 0;
}

std::optional<std::string> AskedProgram::ask(const Layer& layer) {
  if (to_ < 0 && !start()) return std::nullopt;
  std::vector<int32_t> words = words_of(layer);
  words.push_back(static_cast<int32_t>(layer.operands));
  const size_t bytes = words.size() * sizeof(int32_t);
  if (send(to_, words.data(), bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes))
    return std::nullopt;
  return read_line(from_);
}

}  // namespace intarsia::layers
