// Where a file comes to lie that is written to a path.
#pragma once

#include <optional>
#include <string>

namespace intarsia {

struct WritePlace {
  std::string path;               // behind symbolic links, which stay what they are
  std::optional<int> descriptor;  // of a path such as /dev/stdout: what is open is written to
  bool is_stream = false;  // a device, a pipe or a socket: has no old content, and is not replaced
};

WritePlace place_to_write(const std::string& path);

}  // namespace intarsia
