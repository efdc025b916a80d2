#include "debug_probe/stub_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::debug_probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As OpenOCD writes it for an STM32F4: blocks of several sizes.
TEST(MemoryMap, FlashWithBlocksOfSeveralSizes) {
  const auto map = parse_memory_map(R"(<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE memory-map PUBLIC "+//IDN gnu.org//DTD GDB Memory Map V1.0//EN" "http://sourceware.org/gdb/gdb-memory-map.dtd">
<memory-map>
<!-- <memory type="flash" start="1"> -->
<memory type="ram" start="0x0" length="0x8000000"/>
<memory type="flash" start="0x8000000" length="0x10000">
<property name="blocksize">0x4000</property>
</memory>
<memory type='flash' start='0x8010000' length='65536'>
  <property name="blocksize"> 65536 </property>
</memory>
</memory-map>)",
                                    "stub");
  ASSERT_TRUE(map.ok()) << map.error().to_string();
  ASSERT_EQ(map->size(), 3u);
  EXPECT_TRUE((*map)[0].is_ram);
  EXPECT_EQ((*map)[1].block_size, 0x4000u);
  EXPECT_EQ((*map)[2].base, 0x8010000u);
  EXPECT_EQ((*map)[2].size, 65536u);
  EXPECT_EQ((*map)[2].block_size, 65536u);
  EXPECT_TRUE((*map)[2].is_flash);
}

TEST(MemoryMap, ThatIsOfNoUse) {
  for (
      const char* xml : {
          R"(<memory type="flash" start="0x8000000" length="0x10000"/>)",
          R"(<memory type="flash" start="x" length="0x10000"/>)",
          R"(<memory type="ram" start="0" length=""/>)",
          R"(<memory type="ram" start="0xffffffffffffffff" length="2"/>)",
          R"(<property name="blocksize">4</property>)",
          R"(<memory type="flash" start="0" length="8"><property name="blocksize">many</property>)",
          R"(<memory type="flash" start="0" length="8"><property name="blocksize">0</property>)",
          R"(<memory type="flash" start="4" length="8"><property name="blocksize">8</property>)",
          R"(<memory type="flash" start="0" length="9"><property name="blocksize">8</property>)",
      }) {
    const auto map = parse_memory_map(xml, "the stub");
    ASSERT_FALSE(map.ok()) << xml;
    EXPECT_THAT(map.error().to_string(), HasSubstr("the stub: its memory map cannot be used"));
  }
  for (const char* xml : {"", "<", "<memory", "text", "<!-- <memory ", "<a b=c d='"})
    EXPECT_TRUE(parse_memory_map(xml, "the stub").ok()) << xml;
}

TEST(RegisterList, NumbersFollowEachOther) {
  int next = 0;
  const RegisterNumbers registers = parse_registers(
      R"(<feature><reg name="r0"/><reg name='r1' bitsize="32"/><reg name="xPSR" regnum="16"/><reg name="msp"/>
         <reg name="odd" regnum="-1"/></feature><xi:include href="more.xml"/>)",
      next);
  EXPECT_EQ(registers.numbers.at("r1"), 1);
  EXPECT_EQ(registers.numbers.at("xpsr"), 16);
  EXPECT_EQ(registers.numbers.at("msp"), 17);
  EXPECT_EQ(next, 19);
  EXPECT_THAT(registers.included, ElementsAre("more.xml"));
}

}  // namespace
}  // namespace intarsia::debug_probe
