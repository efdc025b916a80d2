#include "support/amounts.h"

#include <gtest/gtest.h>

#include <limits>

namespace intarsia {
namespace {

TEST(Amounts, Bytes) {
  EXPECT_EQ(parse_bytes("0"), 0);
  EXPECT_EQ(parse_bytes("60000"), 60000);
  EXPECT_EQ(parse_bytes("20K"), 20480);
  EXPECT_EQ(parse_bytes("20k"), 20480);
  EXPECT_EQ(parse_bytes("1.5M"), 1572864);
  EXPECT_EQ(parse_bytes("2G"), int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("0x20000000"), 0x20000000);
  EXPECT_EQ(parse_bytes("0.3K"), 307);  // of 307.2
  EXPECT_EQ(parse_bytes("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(Amounts, CountsAreDecimal) {
  EXPECT_EQ(parse_count("5M"), 5000000);
  EXPECT_EQ(parse_count("500k"), 500000);
  EXPECT_EQ(parse_count("1.25K"), 1250);
  EXPECT_EQ(parse_count("2G"), 2000000000);
  EXPECT_EQ(parse_count("7"), 7);
}

TEST(Amounts, OtherTextIsNone) {
  for (const char* text : {"",
                           "K",
                           "-1",
                           "+1",
                           "1.5",
                           "1.",
                           ".5K",
                           "1.5.5K",
                           "1,5K",
                           "20 K",
                           "20KB",
                           "20KiB",
                           "1e3",
                           "0x",
                           "0x1K",
                           "0xg",
                           "9223372036854775808",
                           "8589934592G",
                           "1.0000000001K",
                           "ten"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_count("0x10"), std::nullopt);
  EXPECT_EQ(parse_count("9223372036854776k"), std::nullopt);
}

TEST(Amounts, Percentages) {
  EXPECT_EQ(parse_percent("0%"), 0);
  EXPECT_EQ(parse_percent("2%"), 2000);
  EXPECT_EQ(parse_percent("0.25%"), 250);
  EXPECT_EQ(parse_percent("150%"), 150000);
  for (const char* text : {"", "%", "2", "2 %", "-1%", "0.0001%", "1.%", "x%"})
    EXPECT_EQ(parse_percent(text), std::nullopt) << text;
}

TEST(Amounts, ForPeople) {
  EXPECT_EQ(readable_bytes(0), "0");
  EXPECT_EQ(readable_bytes(9999), "9999");
  EXPECT_EQ(readable_bytes(10000), "9.77K");
  EXPECT_EQ(readable_bytes(22600), "22.1K");
  EXPECT_EQ(readable_bytes(65536), "64.0K");
  EXPECT_EQ(readable_bytes(1 << 20), "1.00M");
  EXPECT_EQ(readable_bytes((1 << 20) - 1), "1024.0K");
  EXPECT_EQ(readable_room((1 << 20) - 1), "1023.9K");
  EXPECT_EQ(readable_bytes(int64_t{3} << 30), "3.00G");
  EXPECT_EQ(readable_count(9999), "9999");
  EXPECT_EQ(readable_count(130'816), "130.8k");
  EXPECT_EQ(readable_count(3'584'999), "3.58M");
  EXPECT_EQ(readable_count(3'585'000), "3.59M");
}

// What is shown as needed is enough, what is shown as there is there, and both are near.
TEST(Amounts, ForPeopleCanBeRead) {
  for (int64_t bytes = 1; bytes < int64_t{1} << 50; bytes = bytes * 3 / 2 + 7) {
    const std::optional<int64_t> needed = parse_bytes(readable_bytes(bytes)),
                                 room = parse_bytes(readable_room(bytes));
    ASSERT_TRUE(needed && room) << bytes;
    EXPECT_GE(*needed, bytes);
    EXPECT_LE(*needed, bytes + bytes / 90 + 1);
    EXPECT_LE(*room, bytes);
    EXPECT_GE(*room, bytes - bytes / 90 - 1);
  }
}

}  // namespace
}  // namespace intarsia
