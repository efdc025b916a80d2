#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "commands.h"
#include "package_writer/package_writer.h"
#include "support/files.h"

namespace intarsia::cli {
namespace {

// The first kind that knows the stream prints it.
Result<std::string> disassemble(const Context& context, std::span<const uint8_t> stream,
                                const std::string& where) {
  for (const auto& kind : context.registry.kinds()) {
    if (!kind->disassemble) continue;
    if (std::optional<Result<std::string>> text = kind->disassemble(stream))
      return std::move(*text);
  }
  return Diagnostics(where, "no target of this build knows this kind of stream",
                     "'intarsia targets' lists the targets there are");
}

// The identifier of schema/package.fbs, behind the buffer's root offset or size prefix.
bool is_package(std::span<const uint8_t> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min<size_t>(bytes.size(), 12));
  return head.find("INTA") != std::string_view::npos;
}

Result<std::string> disassemble_package(const Context& context, std::span<const uint8_t> bytes,
                                        const std::string& path) {
  INTARSIA_TRY(const StreamPackage package, read_package(bytes, path));
  std::string text =
      fmt::format("package of model '{}', {} functions\n", package.model, package.streams.size());
  for (size_t i = 0; i < package.streams.size(); ++i) {
    const CommandStream& stream = package.streams[i];
    text +=
        fmt::format("\n{}: {} on {} ({}), {} bytes of commands, {} of constants; operators {}\n", i,
                    stream.func, stream.device, stream.target, stream.commands.size(),
                    stream.constants.size(), fmt::join(stream.operators, ", "));
    INTARSIA_TRY(const std::string commands,
                 disassemble(context, stream.commands, fmt::format("{}: function {}", path, i)));
    text += commands;
  }
  return text;
}

}  // namespace

int run_disasm(Context& context, const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = read_file(path);
  if (!bytes.ok()) return fail(bytes.error());
  const Result<std::string> text = is_package(*bytes) ? disassemble_package(context, *bytes, path)
                                                      : disassemble(context, *bytes, path);
  if (!text.ok()) return fail(text.error());
  fmt::print("{}", *text);
  return kDone;
}

}  // namespace intarsia::cli
