#include <algorithm>
#include <filesystem>
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
  const std::string_view head(reinterpret_cast<const char*>(stream.data()),
                              std::min<size_t>(stream.size(), 8));
  if (head.ends_with("TFL3"))
    return Diagnostics(where, "is a model without command streams",
                       "'intarsia compile' makes them for a target with an NPU; 'intarsia dump' "
                       "prints a model");
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
  std::string text = fmt::format("package of model '{}', {} function{}\n", package.model,
                                 package.streams.size(), package.streams.size() == 1 ? "" : "s");
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

// The file itself, or of a folder that `compile` wrote the one with streams.
Result<std::string> stream_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".intarsia") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  if (files.size() == 1) return files[0];
  if (files.empty())
    return Diagnostics(path, "is a folder without command streams",
                       "name one that was compiled for a target with an NPU, or a file");
  return Diagnostics(path, "is a folder with several files of command streams",
                     fmt::format("name one of them: {}", fmt::join(files, ", ")));
}

}  // namespace

int run_disasm(Context& context, const std::string& path) {
  const Result<std::string> file = stream_file(path);
  if (!file.ok()) return fail(file.error());
  const Result<std::vector<uint8_t>> bytes = read_file(*file);
  if (!bytes.ok()) return fail(bytes.error());
  const Result<std::string> text = is_package(*bytes) ? disassemble_package(context, *bytes, *file)
                                                      : disassemble(context, *bytes, *file);
  if (!text.ok()) return fail(text.error());
  fmt::print("{}", *text);
  return kDone;
}

}  // namespace intarsia::cli
