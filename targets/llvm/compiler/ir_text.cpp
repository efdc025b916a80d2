#include "ir_text.h"

#include <bit>

#include <fmt/format.h>

namespace intarsia::targets::llvm {

int element_bytes(DataType type) {
  return (bits(type) + 7) / 8;
}

std::string memory_type(DataType type) {
  return type == DataType::Float32 ? "float" : fmt::format("i{}", 8 * element_bytes(type));
}

std::string value_type(DataType type) {
  return type == DataType::Bool ? "i1" : memory_type(type);
}

std::string pointer_type(const IrDialect& dialect, const std::string& to) {
  return dialect.typed_pointers ? to + "*" : "ptr";
}

// LLVM writes a float as the double of the same value.
std::string float_literal(float value) {
  return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(static_cast<double>(value)));
}

std::string int_literal(DataType type, int64_t value) {
  if (type == DataType::Bool) return value != 0 ? "true" : "false";
  return std::to_string(value);
}

std::string vector_type(size_t lanes, const std::string& element) {
  return fmt::format("<{} x {}>", lanes, element);
}

std::string pair_products(size_t lanes) {
  return lanes == 8    ? "llvm.x86.sse2.pmadd.wd"
         : lanes == 16 ? "llvm.x86.avx2.pmadd.wd"
                       : "llvm.x86.avx512.pmaddw.d.512";
}

std::string IrWriter::define(const std::string& instruction) {
  std::string name = fmt::format("%v{}", next_value_++);
  text_ += fmt::format("  {} = {}\n", name, instruction);
  return name;
}

void IrWriter::line(const std::string& instruction) {
  text_ += "  " + instruction + "\n";
}

void IrWriter::begin_block(const std::string& label) {
  text_ += label + ":\n";
  block_ = label;
}

}  // namespace intarsia::targets::llvm
