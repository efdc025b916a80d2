#include "support/model_name.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "support/c_identifier.h"

namespace intarsia {
namespace {

// The model's folder comes first on the include path, so that <name>.h would be taken for these. C11's and
// those that C libraries, operating systems and compilers for embedded cores add.
constexpr std::array<std::string_view, 78> kSystemHeaders = {
    "aio",      "alloca",      "ar",        "arm_acle", "arm_cmse",  "arm_fp16", "arm_mve",
    "arm_neon", "assert",      "byteswap",  "complex",  "cpio",      "ctype",    "device",
    "dirent",   "dlfcn",       "elf",       "endian",   "envlock",   "envz",     "err",
    "errno",    "fcntl",       "features",  "fenv",     "float",     "fnmatch",  "ftw",
    "getopt",   "glob",        "grp",       "iconv",    "inttypes",  "iso646",   "langinfo",
    "libgen",   "limits",      "link",      "locale",   "malloc",    "math",     "memory",
    "mqueue",   "netdb",       "newlib",    "poll",     "pthread",   "pwd",      "reent",
    "regdef",   "regex",       "sched",     "search",   "semaphore", "setjmp",   "signal",
    "stdalign", "stdarg",      "stdatomic", "stdbool",  "stddef",    "stdint",   "stdio",
    "stdlib",   "stdnoreturn", "string",    "strings",  "syslog",    "termios",  "tgmath",
    "threads",  "time",        "uchar",     "unistd",   "utime",     "wchar",    "wctype",
    "windows"};

// Macros of the compiler in its default mode and of standard headers, which would be replaced in
// `struct <name>`; types that C++ does not let a structure be named after.
constexpr std::array<std::string_view, 22> kMacros = {
    "BUFSIZ",   "CHAR_BIT", "EOF",    "I",      "NAN",      "INFINITY", "NDEBUG", "NULL",
    "RAND_MAX", "errno",    "i386",   "linux",  "noreturn", "offsetof", "stderr", "stdin",
    "stdout",   "unix",     "va_arg", "va_end", "va_list",  "va_start"};

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto letter_or_digit = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name[0]) && std::ranges::all_of(name, letter_or_digit);
}

// "kws" and "KWS_BYTES" of the model beside what the runtime's headers declare.
bool is_of_runtime(std::string_view lower) {
  return lower == "intarsia" || lower.starts_with("intarsia_");
}

bool is_integer_macro(std::string_view name) {
  for (const std::string_view ending : {"_MAX", "_MIN"})
    if (name.ends_with(ending) && upper_case(std::string(name)) == name) return true;
  return false;
}

}  // namespace

std::string model_name_rule() {
  return fmt::format(
      "a name is letters, digits and '_', no digit first, at most {} characters, and no keyword, "
      "type, macro or header of C or C++",
      kLongestModelName);
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string model_name_problem(std::string_view name) {
  if (!is_identifier(name)) return "is not a C identifier";
  if (name.size() > kLongestModelName)
    return fmt::format("is longer than {} characters", kLongestModelName);
  if (is_c_keyword(name)) return "is a keyword of C or C++";
  const std::string lower = lower_case(name);
  if (name.size() > 1 && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z')))
    return "is reserved for the C compiler";
  if (is_of_runtime(lower)) return "is a prefix of the runtime's own names";
  // Without regard to case: so do the file systems of some machines.
  if (std::ranges::find(kSystemHeaders, lower) != kSystemHeaders.end())
    return fmt::format("would hide the system's header <{}.h>", lower);
  if (std::ranges::find(kMacros, name) != kMacros.end() || is_integer_macro(name))
    return "is a macro of C's headers or compilers";
  if (lower.ends_with("_t")) {
    const std::string_view stem = std::string_view(lower).substr(0, lower.size() - 2);
    for (const std::string_view type :
         {"int8",    "int16",  "int32",   "int64",   "uint8",   "uint16",  "uint32",
          "uint64",  "intptr", "uintptr", "intmax",  "uintmax", "size",    "ssize",
          "ptrdiff", "off",    "time",    "clock",   "wint",    "char8",   "char16",
          "char32",  "wchar",  "nullptr", "float32", "float64", "float16", "max_align"})
      if (stem == type) return "is a type of C's headers";
  }
  return "";
}

std::string model_name_from_stem(std::string_view stem) {
  std::string name = c_identifier(stem, "model");
  if (name.size() > kLongestModelName)
    name = c_identifier(name.substr(0, kLongestModelName), "model");
  if (model_name_problem(name).empty()) return name;
  if (std::string other = name + "_"; model_name_problem(other).empty()) return other;
  name = "model_" + name;
  return name.substr(0, kLongestModelName);
}

}  // namespace intarsia
