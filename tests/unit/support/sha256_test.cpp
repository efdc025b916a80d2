// Against the vectors of FIPS 180-4's examples, and both ways to compute it against each other.
#include "support/sha256.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace intarsia {
namespace {

std::string of_text(const std::string& text) {
  return sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

TEST(Sha256, IsThatOfTheStandardsExamples) {
  EXPECT_EQ(of_text(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(of_text("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(of_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(of_text(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Around the ends of blocks, where the padding takes one more.
TEST(Sha256, IsTheSameWithAndWithoutTheProcessorsInstructions) {
  std::mt19937_64 random(1);
  for (size_t size = 0; size <= 300; ++size) {
    std::vector<uint8_t> bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    EXPECT_EQ(sha256(bytes), sha256_in_plain_code(bytes)) << size;
  }
}

}  // namespace
}  // namespace intarsia
