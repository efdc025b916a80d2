#include "emission/incbin.h"

#include <fmt/format.h>

namespace intarsia::emission {

std::string incbin_text(const IncbinFile& file) {
  std::string text = fmt::format(
      "/* {}, the bytes of {}. Generated file.\n   SHA-256 {} */\n"
      "#include \"intarsia/contract/incbin.h\"\n\n",
      file.about, file.file, file.sha256);
  for (const IncbinObject& object : file.objects) {
    const std::string macro = object.section.empty()
                                  ? std::string(file.macro)
                                  : fmt::format("intarsia_object \"{}\",", object.section);
    text += fmt::format("  {} {}, \"{}\", {}, {}, {}\n", macro, object.symbol, file.file,
                        object.offset, object.bytes, object.alignment);
  }
  return text;
}

}  // namespace intarsia::emission
