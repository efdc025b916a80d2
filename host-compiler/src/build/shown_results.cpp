#include <cstring>
#include <span>

#include <fmt/format.h>

#include "intarsia/build.h"
#include "support/files.h"

namespace intarsia {

// Of the generic main (boards/common/inference_main.c): each record begins with an index, the bytes of the name and
// those of the tensor, 32 bits each, little-endian like all boards and hosts we build for.
Result<std::vector<std::vector<ShownResult>>> read_shown_results(const std::string& path) {
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(path));
  std::vector<std::vector<ShownResult>> runs;
  for (std::span<const uint8_t> rest = bytes; !rest.empty();) {
    int32_t head[3];
    const bool has_head = rest.size() >= sizeof head;
    if (has_head) std::memcpy(head, rest.data(), sizeof head);
    const auto name_bytes = static_cast<size_t>(has_head ? head[1] : 0),
               tensor_bytes = static_cast<size_t>(has_head ? head[2] : 0);
    if (!has_head || head[1] < 0 || head[2] < 0 ||
        rest.size() - sizeof head < name_bytes + tensor_bytes || (head[0] >= 0 && runs.empty()))
      return Diagnostics(path, "is not a list of results of operators");
    const std::span<const uint8_t> name = rest.subspan(sizeof head, name_bytes),
                                   tensor = rest.subspan(sizeof head + name_bytes, tensor_bytes);
    if (head[0] < 0)
      runs.emplace_back();
    else
      runs.back().push_back({head[0], {name.begin(), name.end()}, {tensor.begin(), tensor.end()}});
    rest = rest.subspan(sizeof head + name_bytes + tensor_bytes);
  }
  return runs;
}

}  // namespace intarsia
