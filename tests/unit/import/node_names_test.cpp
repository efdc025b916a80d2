#include "import/tflite/node_names.h"

#include <gtest/gtest.h>

#include <array>

namespace intarsia::tflite {
namespace {

constexpr std::array<std::string_view, 1> kConv = {"conv"};

TEST(NodeName, PrefersThePartThatFitsTheOperator) {
  EXPECT_EQ(node_name("f/activation_2/Relu;f/batch_norm/Fused;f/conv2d_1/BiasAdd;f/conv2d_4/Conv2D",
                      kConv, "conv2d"),
            "conv2d_1");
  EXPECT_EQ(node_name("net/block_3/Conv2D", kConv, "conv2d"), "block_3");
  EXPECT_EQ(node_name("net/Conv2D", kConv, "conv2d"), "net_Conv2D");
  EXPECT_EQ(node_name("Conv2D", kConv, "conv2d"), "Conv2D");
}

TEST(NodeName, KeepsWhatTheUserCalledIt) {
  EXPECT_EQ(node_name("model/my layer:0", kConv, "conv2d"), "my_layer_0");
  EXPECT_EQ(node_name("labels", kConv, "conv2d"), "labels");
  EXPECT_EQ(node_name("3d", kConv, "conv2d"), "_3d");
  EXPECT_EQ(node_name("float", kConv, "conv2d"), "float_");
  EXPECT_EQ(node_name(std::string(500, 'a'), kConv, "conv2d"), std::string(48, 'a'));
}

TEST(NodeName, NamesThatSayNothingGiveWayToTheOperators) {
  for (const char* name :
       {"", "Identity", "Identity_1", "StatefulPartitionedCall:0", "///", ";", "\xff\xfe"}) {
    EXPECT_EQ(node_name(name, kConv, "conv2d"), "conv2d") << name;
  }
}

TEST(UniqueNames, NumbersRepeatsWithoutMeetingOthers) {
  UniqueNames names;
  EXPECT_EQ(names.take("add"), "add");
  EXPECT_EQ(names.take("add_2"), "add_2");
  EXPECT_EQ(names.take("add"), "add_3");
  EXPECT_EQ(names.take("add"), "add_4");
}

TEST(Printable, FitsALineOfAMessage) {
  EXPECT_EQ(printable("net/conv;net/bias"), "net/conv");
  EXPECT_EQ(printable("a\nb\x7f'"), "a?b??");
  EXPECT_EQ(printable("a\u009bb\xff"), "a?b?");
  EXPECT_EQ(printable(std::string(63, 'x') + "\u00f6"), std::string(63, 'x') + "...");
  EXPECT_EQ(printable(std::string(100, 'x')), std::string(64, 'x') + "...");
}

}  // namespace
}  // namespace intarsia::tflite
