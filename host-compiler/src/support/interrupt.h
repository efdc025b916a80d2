// SIGINT, SIGTERM and SIGHUP: a program that is interrupted ends the programs that it has started, with
// all that those have started, and removes its temporary files; then it ends by the same signal.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

namespace intarsia::interrupt {

// Called once, at the beginning of main and before there is any other thread. A program that does not
// call it keeps the signals' usual meaning: what is registered below is then not used.
void take_over();

// While it lives, the file or folder is removed when the program is interrupted.
class RemovedPath {
 public:
  explicit RemovedPath(std::string path);
  // A fresh folder, as mkdtemp() makes it of the pattern: there is no moment at which it exists and would stay. Its path is
  // empty when it could not be made, for the reason that errno has.
  static RemovedPath new_folder(std::string pattern);
  // So a fresh empty file, whose name is that of no other between the beginning and the end that are given.
  static RemovedPath new_file(const std::string& beginning, const std::string& end);
  RemovedPath(RemovedPath&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  RemovedPath& operator=(RemovedPath&&) = delete;
  ~RemovedPath();
  const std::string& path() const { return path_; }

 private:
  RemovedPath() = default;

  std::string path_;
};

// Held around the start of a process. Once the program is interrupted nothing is started any more: then
// the constructor does not return.
class Starting {
 public:
  Starting();
  ~Starting();
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;
  void started(pid_t group);  // a process group that ends with us
};
void ended(pid_t group);

// Does not return once the program is interrupted: it ends in another thread.
void wait_if_interrupted();

}  // namespace intarsia::interrupt
