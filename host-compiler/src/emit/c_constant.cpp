#include "emit/c_constant.h"

#include <fmt/format.h>

#include <cstring>

#include "emit/c_expr.h"
#include "support/c_writer.h"
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

std::string literal(DataType type, int64_t raw) {
  if (type == DataType::Float32) {
    const auto bits_of_value = static_cast<uint32_t>(raw);
    float value = 0;
    std::memcpy(&value, &bits_of_value, sizeof value);
    return c_literal(value);
  }
  const DataType stored = type == DataType::Int4 ? DataType::Int8 : type;
  return c_literal(stored, tir::wrap(stored, raw));
}

}  // namespace

Result<std::string> emit_c_constant(const tir::Constant& constant, const std::string& symbol_prefix,
                                    const CConstantOptions& options) {
  const size_t size = element_bytes(constant);
  if (constant.bytes.empty() || constant.bytes.size() % size != 0)
    return Diagnostics(fmt::format("constant '{}'", constant.name),
                       fmt::format("has {} bytes, which are no whole elements of type {}",
                                   constant.bytes.size(), to_string(constant.type)));
  std::vector<std::string> values;
  values.reserve(constant.bytes.size() / size);
  for (size_t at = 0; at < constant.bytes.size(); at += size)
    values.push_back(literal(constant.type, little_endian(&constant.bytes[at], size)));
  std::string head;
  if (options.alignment > static_cast<int32_t>(size))
    head += fmt::format("_Alignas({}) ", options.alignment);
  if (options.linkage == CLinkage::Static) head += "static ";
  const std::string attribute = options.attribute.empty() ? "" : " " + options.attribute;
  CWriter out;
  out.table(head + declarator(constant, symbol_prefix) + attribute + " =", values, ";");
  return out.text();
}

std::string emit_c_constant_declaration(const tir::Constant& constant,
                                        const std::string& symbol_prefix) {
  return "extern " + declarator(constant, symbol_prefix) + ";";
}

}  // namespace intarsia::emission
