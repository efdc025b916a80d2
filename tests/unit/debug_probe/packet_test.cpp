#include "debug_probe/packet.h"

#include <gtest/gtest.h>

#include <random>

namespace intarsia::debug_probe {
namespace {

using Kind = PacketReader::Kind;

std::string one_packet(const std::string& bytes) {
  PacketReader reader;
  reader.feed(bytes);
  const auto event = reader.next();
  if (!event) return "nothing";
  if (event->kind != Kind::Packet) return "no packet";
  EXPECT_FALSE(reader.next());
  return event->payload;
}

TEST(Packet, HasASum) {
  EXPECT_EQ(framed("OK"), "$OK#9a");
  EXPECT_EQ(framed(""), "$#00");
  EXPECT_EQ(framed("g"), "$g#67");
}

TEST(Packet, EscapesFourBytes) {
  const std::vector<uint8_t> bytes = {'a', '$', '#', '}', '*', 0, 255};
  EXPECT_EQ(escaped(bytes), std::string("a}\x04}\x03}\x5d}\x0a\0\xff", 11));
  EXPECT_EQ(unescaped(escaped(bytes)), std::string("a$#}*\0\xff", 7));
  EXPECT_EQ(unescaped("a}"), "a}") << "an escape of nothing";
}

TEST(Packet, Hex) {
  EXPECT_EQ(hex_of(std::string_view("\x01\xfe")), "01fe");
  EXPECT_EQ(bytes_of_hex("01Fe"), (std::vector<uint8_t>{1, 254}));
  EXPECT_EQ(bytes_of_hex("0"), std::nullopt);
  EXPECT_EQ(bytes_of_hex("xx"), std::nullopt);
  EXPECT_EQ(number_of_hex("1f"), 31u);
  EXPECT_EQ(number_of_hex(""), std::nullopt);
  EXPECT_EQ(number_of_hex("12345678123456781"), std::nullopt);
}

TEST(PacketReader, CutsTheStream) {
  PacketReader reader;
  reader.feed("+-$OK#9agarbage$m1#9e");
  ASSERT_EQ(reader.next()->kind, Kind::Ack);
  ASSERT_EQ(reader.next()->kind, Kind::Nak);
  EXPECT_EQ(reader.next()->payload, "OK");
  EXPECT_EQ(reader.next()->payload, "m1");
  EXPECT_FALSE(reader.next());
}

TEST(PacketReader, WaitsForTheRest) {
  PacketReader reader;
  for (const char c : std::string("$O")) {
    reader.feed(std::string(1, c));
    EXPECT_FALSE(reader.next());
  }
  reader.feed("K#9");
  EXPECT_FALSE(reader.next());
  reader.feed("a");
  EXPECT_EQ(reader.next()->payload, "OK");
}

TEST(PacketReader, WritesRepetitionsOut) {
  EXPECT_EQ(one_packet("$0* #7a"), "0000");
  EXPECT_EQ(one_packet("$0*#4d"), "no packet") << "no count";
  EXPECT_EQ(one_packet("$* #4a"), "no packet") << "nothing to repeat";
}

TEST(PacketReader, SeesDamage) {
  EXPECT_EQ(one_packet("$OK#9b"), "no packet");
  EXPECT_EQ(one_packet("$OK#zz"), "no packet");
  EXPECT_EQ(one_packet("$OK$OK#9a"), "OK") << "the end of the first is lost";
  EXPECT_EQ(one_packet("%Stop:T05#00$OK#9a"), "OK") << "a notification";
  PacketReader reader;
  reader.feed("$" + std::string(2 << 20, '0'));
  EXPECT_EQ(reader.next()->kind, Kind::TooLong);
  reader.feed("no packet");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.dropped(), 9u);
}

TEST(PacketReader, TakesAnything) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    PacketReader reader;
    std::string bytes;
    for (unsigned i = 0; i < random() % 40; ++i) bytes += "$#+-*}%0O\xff\x1d "[random() % 12];
    reader.feed(bytes);
    while (reader.next()) {
    }
  }
}

}  // namespace
}  // namespace intarsia::debug_probe
