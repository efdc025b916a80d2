// Included by the copies of sources that scripts/mutate compiles: every change is in the program, and which one holds
// is decided when it runs.
//   INTARSIA_MUTATION=N        the change that holds
//   INTARSIA_MUTATION_LOG=F    a file with one byte per change: set to one where a program came past it
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

namespace intarsia_mutation {

class Settings {
 public:
  Settings() {
    if (const char* chosen = std::getenv("INTARSIA_MUTATION")) active_ = std::atoi(chosen);
    const char* log = std::getenv("INTARSIA_MUTATION_LOG");
    const int file = log != nullptr ? open(log, O_RDWR) : -1;
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) return;
    // Shared with the file: what a program that crashes came past is kept.
    void* bytes = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ | PROT_WRITE,
                       MAP_SHARED, file, 0);
    if (bytes != MAP_FAILED) passed_ = static_cast<unsigned char*>(bytes);
    close(file);
  }
  bool holds(int change) {
    if (passed_ != nullptr) passed_[change] = 1;
    return change == active_;
  }

 private:
  int active_ = -1;
  unsigned char* passed_ = nullptr;
};

inline bool holds(int change) {
  static Settings settings;
  return settings.holds(change);
}

}  // namespace intarsia_mutation

// What the compiler computes is computed without any change.
constexpr bool intarsia_mutated(int change) {
  if (std::is_constant_evaluated()) return false;
  return intarsia_mutation::holds(change);
}
