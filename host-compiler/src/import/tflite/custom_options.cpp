// Numbers are never read from text here; without this the library's locale, which Debian compiles for programs only, would
// have to be linked into Python's module. The file is compiled alone for it.
#define FLATBUFFERS_LOCALE_INDEPENDENT 0

#include "import/tflite/custom_options.h"

#include <flatbuffers/flexbuffers.h>

#include <fmt/format.h>

namespace intarsia::tflite {

namespace {

flexbuffers::Reference member(const std::vector<uint8_t>& bytes, const char* name) {
  if (bytes.empty()) return {};
  return flexbuffers::GetRoot(bytes.data(), bytes.size()).AsMap()[name];
}

}  // namespace

CustomOptions::CustomOptions(OperatorReader& in) : in_(in) {
  const std::span<const uint8_t> options = values(in.op().raw->custom_options());
  std::vector<uint8_t> seen;
  const bool whole = !options.empty() &&
                     flexbuffers::VerifyBuffer(options.data(), options.size(), &seen) &&
                     flexbuffers::GetRoot(options.data(), options.size()).IsMap();
  if (whole) bytes_.assign(options.begin(), options.end());
}

bool CustomOptions::has(const char* name) const {
  return !member(bytes_, name).IsNull();
}

void CustomOptions::missing(const char* name) {
  if (!in_.clean()) return;
  in_.problem(bytes_.empty() ? std::string("has no options that can be read")
                             : fmt::format("has no option '{}'", name),
              "the file is incomplete; convert the model again");
}

int64_t CustomOptions::integer(const char* name) {
  const flexbuffers::Reference found = member(bytes_, name);
  if (!found.IsNumeric() && !found.IsBool()) return missing(name), 0;
  return found.AsInt64();
}

int64_t CustomOptions::integer(const char* name, int64_t otherwise) {
  return has(name) ? integer(name) : otherwise;
}

float CustomOptions::real(const char* name) {
  const flexbuffers::Reference found = member(bytes_, name);
  if (!found.IsNumeric()) return missing(name), 0;
  return found.AsFloat();
}

std::vector<int64_t> CustomOptions::integers(const char* name) {
  const flexbuffers::Reference found = member(bytes_, name);
  if (!found.IsAnyVector()) return missing(name), std::vector<int64_t>{};
  std::vector<int64_t> numbers;
  const auto take = [&](const auto& vector) {
    for (size_t i = 0; i < vector.size(); ++i) numbers.push_back(vector[i].AsInt64());
  };
  if (found.IsTypedVector())
    take(found.AsTypedVector());
  else if (found.IsFixedTypedVector())
    take(found.AsFixedTypedVector());
  else
    take(found.AsVector());
  return numbers;
}

}  // namespace intarsia::tflite
