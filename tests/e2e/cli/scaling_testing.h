// What compiling large networks takes in memory.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "cli.h"
#include "large_models.h"

namespace intarsia::test {
inline constexpr int64_t kMiB = 1 << 20;

struct Ended {
  int code = -1;           // of the program; -1: a signal ended it
  int64_t peak_bytes = 0;  // of its memory, and of the programs that it ran
};

// Runs `work` in a process of its own. Its peak begins at what this process has used: large things are
// made in other processes, too.
inline Ended in_a_process(const std::function<void()>& work) {
  const pid_t process = fork();
  if (process == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  rusage used{};
  EXPECT_EQ(wait4(process, &status, 0, &used), process);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, int64_t{used.ru_maxrss} * 1024};
}

class Scaling : public Cli {
 protected:
  void make(const std::string& name, const std::function<ModelSpec()>& model) const {
    const Ended made = in_a_process([&] { write(name, build(model())); });
    ASSERT_EQ(made.code, 0);
  }

  // What the program prints goes to the file "told".
  Ended measured(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), INTARSIA_PROGRAM);
    return in_a_process([&] {
      std::vector<char*> command;
      for (std::string& argument : arguments) command.push_back(argument.data());
      command.push_back(nullptr);
      const int told = open(path("told").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (chdir(path("").c_str()) != 0 || dup2(told, 1) < 0 || dup2(told, 2) < 0) _exit(126);
      execv(command[0], command.data());
      _exit(127);
    });
  }
  std::string told() const {
    const std::vector<uint8_t> bytes = read("told");
    return {bytes.begin(), bytes.end()};
  }
  int64_t size_of(const std::string& name) const {
    return static_cast<int64_t>(std::filesystem::file_size(path(name)));
  }

  // Compiles the weights and checks the memory that it takes.
  void compile_weights(int64_t bytes, ElementType weights, ElementType activations,
                       const std::string& target) {
    make("net.tflite", [&] { return weights_of(bytes, weights, activations); });
    const Ended ended =
        measured({"compile", "net.tflite", "--target", target, "--board", "host", "-o", "out"});
    ASSERT_EQ(ended.code, 0) << told();
    EXPECT_LT(ended.peak_bytes, 6 * bytes + 200 * kMiB);
    EXPECT_GE(size_of("out/net_weights.bin"), bytes * 9 / 10);  // whole layers
    EXPECT_LT(size_of("out/net_data.h"), kMiB);                 // declares them
    const Ended as_text = measured(
        {"compile", "net.tflite", "--target", target, "--weights-file", "never", "-o", "out"});
    ASSERT_EQ(as_text.code, 0) << told();
    EXPECT_LT(as_text.peak_bytes, 6 * bytes + 200 * kMiB);
    EXPECT_GT(size_of("out/net_data.h"), bytes);  // the tables are there, and are text
    std::filesystem::remove_all(path("out"));
  }
};

}  // namespace intarsia::test
