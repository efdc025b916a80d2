#include "emission/c_constant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "c_prologue.h"
#include "support/c_program.h"

namespace intarsia::emission {
namespace {

template <typename T>
tir::Constant constant(const std::string& name, DataType type, const std::vector<T>& values) {
  tir::Constant made{name, type, {static_cast<int64_t>(values.size())}, {}};
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  made.bytes = std::move(bytes);
  return made;
}

TEST(CConstant, WrapsAtHundredColumns) {
  std::vector<int8_t> values(40);
  std::iota(values.begin(), values.end(), int8_t{-20});
  EXPECT_EQ(
      *emit_c_constant(constant("weights", DataType::Int8, values), "kws_"),
      "const int8_t kws_weights[40] = {\n"
      "  -20, -19, -18, -17, -16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, "
      "-1, 0, 1,\n"
      "  2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,\n"
      "};\n");
}

TEST(CConstant, DeclaresAlignsAndHides) {
  const tir::Constant table = constant<uint16_t>("table", DataType::UInt16, {1, 65535});
  EXPECT_EQ(emit_c_constant_declaration(table, "m_"), "extern const uint16_t m_table[2];");
  EXPECT_EQ(*emit_c_constant(table, "m_", {CLinkage::Static, 16}),
            "_Alignas(16) static const uint16_t m_table[2] = {\n  1, 65535,\n};\n");
  EXPECT_EQ(*emit_c_constant(table, "m_", {CLinkage::External, 2}),
            "const uint16_t m_table[2] = {\n  1, 65535,\n};\n");
}

TEST(CConstant, RefusesBytesThatAreNoWholeElements) {
  tir::Constant broken = constant<int32_t>("bias", DataType::Int32, {1});
  broken.bytes = {1, 0, 0};
  const auto result = emit_c_constant(broken, "m_");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().to_string(),
            "constant 'bias': has 3 bytes, which are no whole elements of type i32\n");
}

TEST(CConstant, CompilesToTheSameBytes) {
  const std::vector<tir::Constant> constants = {
      constant<int8_t>("a", DataType::Int8, {-128, 127, 0}),
      constant<uint8_t>("b", DataType::UInt8, {0, 255}),
      constant<int8_t>("c", DataType::Int4, {0x12, static_cast<int8_t>(0xF8)}),
      constant<int32_t>("d", DataType::Int32, {INT32_MIN, INT32_MAX, -1}),
      constant<uint32_t>("e", DataType::UInt32, {0, UINT32_MAX}),
      constant<int64_t>("f", DataType::Int64, {INT64_MIN, INT64_MAX, -1, int64_t{1} << 40}),
      constant<float>("g", DataType::Float32,
                      {0.1f, -0.0f, 1.0f, 3.0e10f, std::numeric_limits<float>::denorm_min(),
                       std::numeric_limits<float>::max(), -1.17549435e-38f, INFINITY, 16777216.0f}),
      constant<uint8_t>("h", DataType::Bool, {0, 1}),
  };
  std::string text = testing::kPrologue;
  for (const tir::Constant& c : constants)
    text += emit_c_constant_declaration(c, "m_") + "\n" + *emit_c_constant(c, "m_", {});
  for (const std::string& compiler : testing::c_compilers()) {
    const testing::CProgram program(compiler, text, testing::kFlags);
    ASSERT_TRUE(program.ok()) << compiler << ":\n" << program.errors();
    for (const tir::Constant& c : constants) {
      const auto* compiled = static_cast<const uint8_t*>(program.address("m_" + c.name));
      ASSERT_NE(compiled, nullptr) << c.name;
      EXPECT_EQ(std::memcmp(compiled, c.bytes.data(), c.bytes.size()), 0) << c.name;
    }
  }
}

}  // namespace
}  // namespace intarsia::emission
