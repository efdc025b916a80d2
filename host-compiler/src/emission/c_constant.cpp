#include "emission/c_constant.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

#include "intarsia/plugin/c_expr.h"
#include "intarsia/plugin/c_writer.h"
#include "tir/fold.h"

namespace intarsia::emission {

namespace {

size_t element_bytes(const tir::Constant& constant) {
  return static_cast<size_t>(bits(constant.type) + 7) / 8;
}

std::string declarator(const tir::Constant& constant, const std::string& prefix) {
  return fmt::format("const {} {}[{}]", c_name(constant.type), prefix + constant.name,
                     constant.bytes.size() / element_bytes(constant));
}

int64_t little_endian(const uint8_t* bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= uint64_t{bytes[i]} << (8 * i);
  return static_cast<int64_t>(value);
}

// Elements in lines, as many to each as fit. Weights have tens of millions of them: no element has a
// string of its own, and the text leaves in blocks.
class Rows {
 public:
  explicit Rows(const TextSink& sink) : sink_(sink) { text_.reserve(kBlock + CWriter::kWidth); }

  void add(std::string_view value) {
    if (column_ == 0 || column_ + 1 + value.size() + 1 > CWriter::kWidth) {
      if (column_ != 0) text_ += '\n';
      flush_beyond(kBlock);
      text_.append(kIndent, ' ');
      column_ = kIndent;
    } else {
      text_ += ' ';
      ++column_;
    }
    text_.append(value) += ',';
    column_ += value.size() + 1;
  }
  void finish() {
    if (column_ != 0) text_ += '\n';
    flush_beyond(0);
  }

 private:
  static constexpr size_t kIndent = 2, kBlock = 1 << 16;

  void flush_beyond(size_t bytes) {
    if (text_.size() <= bytes) return;
    sink_(text_);
    text_.clear();
  }

  const TextSink& sink_;
  std::string text_;
  size_t column_ = 0;
};

void add_literal(Rows& rows, DataType type, int64_t raw) {
  if (type == DataType::Float32) {
    const auto bits_of_value = static_cast<uint32_t>(raw);
    float value = 0;
    std::memcpy(&value, &bits_of_value, sizeof value);
    return rows.add(c_literal(value));
  }
  const DataType stored = type == DataType::Int4 ? DataType::Int8 : type;
  const int64_t value = tir::wrap(stored, raw);
  if (stored == DataType::Bool || bits(stored) > 16) return rows.add(c_literal(stored, value));
  std::array<char, 8> digits;  // what c_literal writes of small types, without a string
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  rows.add({digits.data(), static_cast<size_t>(end - digits.data())});
}

std::string head_text(const tir::Constant& constant, const std::string& symbol_prefix,
                      const CConstantOptions& options) {
  std::string head;
  if (options.alignment > static_cast<int32_t>(element_bytes(constant)))
    head += fmt::format("_Alignas({}) ", options.alignment);
  if (options.linkage == CLinkage::Static) head += "static ";
  const std::string attribute = options.attribute.empty() ? "" : " " + options.attribute;
  CWriter out;
  out.open(head + declarator(constant, symbol_prefix) + attribute + " =");
  return out.text();
}

}  // namespace

Result<void> check_c_constant(const tir::Constant& constant) {
  if (constant.bytes.empty() || constant.bytes.size() % element_bytes(constant) != 0)
    return Diagnostics(fmt::format("constant '{}'", constant.name),
                       fmt::format("has {} bytes, which are no whole elements of type {}",
                                   constant.bytes.size(), to_string(constant.type)));
  return {};
}

void write_c_constant(const tir::Constant& constant, const std::string& symbol_prefix,
                      const CConstantOptions& options, const TextSink& sink) {
  sink(head_text(constant, symbol_prefix, options));
  const std::vector<uint8_t>& bytes = constant.bytes;
  const size_t size = element_bytes(constant);
  Rows rows(sink);
  for (size_t at = 0; at < bytes.size(); at += size)
    add_literal(rows, constant.type, little_endian(&bytes[at], size));
  rows.finish();
  sink("};\n");
}

Result<std::string> emit_c_constant(const tir::Constant& constant, const std::string& symbol_prefix,
                                    const CConstantOptions& options) {
  INTARSIA_TRY_VOID(check_c_constant(constant));
  std::string text;
  write_c_constant(constant, symbol_prefix, options,
                   [&](std::string_view piece) { text += piece; });
  return text;
}

std::string emit_c_constant_declaration(const tir::Constant& constant,
                                        const std::string& symbol_prefix) {
  return "extern " + declarator(constant, symbol_prefix) + ";";
}

}  // namespace intarsia::emission
