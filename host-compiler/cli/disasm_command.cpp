#include <fmt/format.h>

#include "commands.h"
#include "support/files.h"

namespace intarsia::cli {

int run_disasm(Context& context, const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = read_file(path);
  if (!bytes.ok()) return fail(bytes.error());
  for (const auto& kind : context.registry.kinds()) {
    const std::optional<Result<std::string>> text = kind->disassemble(*bytes);
    if (!text) continue;
    if (!text->ok()) return fail(text->error());
    fmt::print("{}", **text);
    return kDone;
  }
  return fail(Diagnostics(path, "no target of this build knows this kind of stream",
                          "'intarsia targets' lists the targets there are"));
}

}  // namespace intarsia::cli
