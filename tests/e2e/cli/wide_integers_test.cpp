// Integers of 64 bits end to end: reference, generated C, files.
#include <cstring>
#include <limits>

#include "cli.h"

namespace intarsia::test {
namespace {

class WideIntegers : public Cli {};

// The inputs are alike in their lower halves, so that nothing that looks at
// 32 bits alone gives these results.
TEST_F(WideIntegers, AreWholeInTheReferenceAndInC) {
  write("wide.graph", std::string("intarsia.graph wide\nfunc @main(%0, %1) -> (%3, %4) {\n"
                                  "  %0 a: i64[2,2]\n  %1 b: i64[2,2]\n  %2 both: i64[4,2]\n"
                                  "  %3 turned: i64[2,4]\n  %4 smaller: bool[2,2]\n"
                                  "  concat joined(%0, %1) -> (%2) {axis=0}\n"
                                  "  transpose turn(%2) -> (%3) {permutation=[1, 0]}\n"
                                  "  less compare(%0, %1) -> (%4)\n}\nentry @main\n"));
  const auto bytes_of = [](const std::vector<int64_t>& values) {
    std::vector<uint8_t> bytes(8 * values.size());
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kStep = int64_t{1} << 32;
  write("a.bin", bytes_of({kLeast, 7, -kStep, 5 * kStep - 1}));
  write("b.bin", bytes_of({0, 7 + kStep, kStep, 4 * kStep - 1}));
  EXPECT_TRUE(done(intarsia({"verify", "wide.graph", "--samples", "8"})));
  EXPECT_TRUE(done(intarsia({"verify", "wide.graph", "--input", "a.bin", "--input", "b.bin"})));
  EXPECT_TRUE(done(intarsia({"run", "--native", "wide.graph", "--input", "a.bin", "--input",
                             "b.bin", "--output-dir", "out"})));
  EXPECT_EQ(read("out/out0.bin"),
            bytes_of({kLeast, -kStep, 0, kStep, 7, 5 * kStep - 1, 7 + kStep, 4 * kStep - 1}));
  EXPECT_EQ(read("out/out1.bin"), (std::vector<uint8_t>{1, 1, 1, 0}));
}

}  // namespace
}  // namespace intarsia::test
