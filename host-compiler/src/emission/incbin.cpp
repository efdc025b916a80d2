#include "emission/incbin.h"

#include <fmt/format.h>

namespace intarsia::emission {

namespace {

// The macro's name and its first argument, where it has one before the symbol.
std::string macro_of(const IncbinFile& file, const IncbinObject& object) {
  if (!object.section.empty()) return fmt::format("intarsia_object \"{}\",", object.section);
  if (!object.memory.empty()) return fmt::format("{}_in_memory {},", file.macro, object.memory);
  return file.macro;
}

}  // namespace

std::string incbin_text(const IncbinFile& file) {
  std::string text = fmt::format(
      "/* {}, the bytes of {}. Generated file.\n   SHA-256 {} */\n"
      "#include \"intarsia/contract/incbin.h\"\n\n",
      file.about, file.file, file.sha256);
  for (const IncbinObject& object : file.objects) {
    text += fmt::format("  {} {}, \"{}\", {}, {}, {}\n", macro_of(file, object), object.symbol,
                        file.file, object.offset, object.bytes, object.alignment);
  }
  return text;
}

}  // namespace intarsia::emission
