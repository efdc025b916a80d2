#include "pseudo_terminal.h"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>

namespace intarsia::test {

ShownOnTerminal run_on_terminal(const std::vector<std::string>& command,
                                const std::string& directory, int columns,
                                const std::vector<std::string>& environment) {
  ShownOnTerminal shown;
  winsize size = {};
  size.ws_row = 24;
  size.ws_col = static_cast<unsigned short>(columns);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) return shown;
  if (child == 0) {
    if (chdir(directory.c_str()) != 0) _exit(126);
    for (const std::string& each : environment) {
      const size_t equals = each.find('=');
      setenv(each.substr(0, equals).c_str(), each.substr(equals + 1).c_str(), 1);
    }
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  std::array<char, 4096> buffer;
  // An error is the end: the program has closed the terminal.
  for (ssize_t count; (count = read(terminal, buffer.data(), buffer.size())) > 0;)
    shown.bytes.append(buffer.data(), static_cast<size_t>(count));
  close(terminal);
  int status = 0;
  if (waitpid(child, &status, 0) == child && WIFEXITED(status))
    shown.exit_code = WEXITSTATUS(status);
  shown.screen = screen_of(shown.bytes);
  return shown;
}

std::vector<std::string> screen_of(const std::string& bytes) {
  std::vector<std::string> lines(1);
  size_t column = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string& line = lines.back();
    if (bytes[i] == '\n') {
      lines.emplace_back();
      column = 0;
    } else if (bytes[i] == '\r') {
      column = 0;
    } else if (bytes[i] == '\033' && i + 1 < bytes.size() && bytes[i + 1] == '[') {
      for (i += 2; i < bytes.size() && std::isalpha(static_cast<unsigned char>(bytes[i])) == 0;
           ++i) {
      }
      if (i < bytes.size() && bytes[i] == 'K') line.resize(std::min(line.size(), column));
    } else {
      if (line.size() <= column) line.resize(column + 1, ' ');
      line[column++] = bytes[i];
    }
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace intarsia::test
