#include "ptx.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

extern char** environ;

namespace intarsia::targets::cuda {
namespace {

namespace fs = std::filesystem;

// What the headers of a toolkit would declare of the language, as far as kernels use it.
constexpr const char* kLanguage = R"(#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
struct IntarsiaDim {
  unsigned x;
};
#define blockIdx (IntarsiaDim{(unsigned)__nvvm_read_ptx_sreg_ctaid_x()})
#define blockDim (IntarsiaDim{(unsigned)__nvvm_read_ptx_sreg_ntid_x()})
#define threadIdx (IntarsiaDim{(unsigned)__nvvm_read_ptx_sreg_tid_x()})
)";

// A folder that is gone with this.
class Scratch {
 public:
  Scratch() {
    std::error_code error;
    std::string wanted = (fs::temp_directory_path(error) / "intarsia-cuda-XXXXXX").string();
    if (!error && mkdtemp(wanted.data()) != nullptr) path_ = wanted;
  }
  ~Scratch() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  bool ok() const { return !path_.empty(); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// 0 and its status as waitpid has it, or an errno.
int run(const std::vector<std::string>& command, const std::string& log, int& status) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t process = 0;
  const int problem =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return problem;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

Diagnostics refused(const std::string& what) {
  return Diagnostics("target 'cuda'", "-code=ptx: " + what,
                     "install a clang with NVPTX (Debian: clang), or leave -code=source, which is "
                     "compiled where the program runs");
}

}  // namespace

Result<std::string> ptx_of(const std::string& source, const std::string& arch) {
  const Scratch scratch;
  if (!scratch.ok()) return refused("there is no folder for temporary files");
  const std::string in = scratch.file("kernels.cu"), out = scratch.file("kernels.ptx"),
                    log = scratch.file("log");
  std::ofstream(in, std::ios::binary) << kLanguage << source;
  int status = 0;
  const int problem =
      run({"clang", "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-std=c++17",
           "-O3", "-ffp-contract=off", "--cuda-gpu-arch=" + arch, "-S", "-o", out, in},
          log, status);
  if (problem != 0) return refused("clang cannot be started");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string said = text_of(log);
    return refused("clang says: " + said.substr(0, said.find('\n')));
  }
  return text_of(out);
}

}  // namespace intarsia::targets::cuda
