// Objects of sources that are the same for every model (kernels, drivers, simulators, the boards' main),
// kept in the user's cache folder so that each is compiled once for a compiler and its flags. Several
// programs may use the folder at the same time: an entry appears whole, and who finds one gone compiles.
//
// An entry is found by a hash of the compiler, the command line, the source, and every file that it
// includes by way of the folders of the command line. Headers of the system are not in the hash; the entry lists
// those that were read, with size and date, and is not used when one has changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace intarsia::build {

class ObjectCache {
 public:
  static constexpr int64_t kMostBytes = int64_t{256} << 20;

  // An empty folder: nothing is kept. `most_bytes` bounds what trim() leaves.
  explicit ObjectCache(std::string folder, int64_t most_bytes = kMostBytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}
  // What INTARSIA_CACHE names ("off" or nothing: none), or `intarsia` in XDG_CACHE_HOME or ~/.cache.
  static ObjectCache of_user();

  struct Source {
    std::vector<std::string> command;  // without the names of source, object and lists
    std::string path;                  // as the compiler is given it
    std::string directory;             // where the compiler runs; "": here
    std::vector<std::string> include_dirs;
  };
  // Nothing when the cache is off or a file cannot be read.
  std::optional<std::string> key_of(const Source& source) const;

  // Copies what an entry has to `object` (.o) and, with the endings .ci (call graph) and .d
  // (dependencies), beside it. False when there is no entry that holds.
  bool take(const std::string& key, const std::string& object) const;
  // Keeps the files of that name. Failures are silent: the next one compiles again.
  void put(const std::string& key, const std::string& object) const;
  // Removes entries, those not used for the longest time first, until three quarters of the limit are left.
  // Does nothing below the limit.
  void trim() const;

 private:
  std::string folder_;
  int64_t most_bytes_;
};

}  // namespace intarsia::build
