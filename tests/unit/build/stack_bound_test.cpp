// Bounds on graphs in the form GCC writes (-fcallgraph-info=su).
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "build/objects.h"

namespace intarsia::build {
namespace {

std::string node(const std::string& title, const std::string& declaration, int bytes) {
  return fmt::format("node: {{ title: \"{}\" label: \"{}\\nfile.c:1:1\\n{} bytes (static)\" }}\n",
                     title, declaration, bytes);
}
std::string library(const std::string& name) {
  return fmt::format("node: {{ title: \"{0}\" label: \"{0}\\n<built-in>\" shape : ellipse }}\n",
                     name);
}
std::string edge(const std::string& from, const std::string& to) {
  return fmt::format("edge: {{ sourcename: \"{}\" targetname: \"{}\" label: \"file.c:2:3\" }}\n",
                     from, to);
}

const std::string kIndirect =
    "node: { title: \"__indirect_call\" label: \"Indirect Call Placeholder\" shape : ellipse }\n";
const std::string kDevice =
    "intarsia_status npu::{anonymous}::run(intarsia_device*, const intarsia_stream*, void* const*, "
    "uint32_t) [with Bus = Mmio]";

// kws_run > intarsia_package_run > a device.
std::string model_with_device() {
  return node("kws_run", "kws_run", 40) +
         node("intarsia_package_run",
              "intarsia_status intarsia_package_run(const intarsia_package*)", 104) +
         kIndirect + edge("kws_run", "intarsia_package_run") +
         edge("intarsia_package_run", "__indirect_call");
}

using Chain = std::vector<std::string>;

TEST(StackBound, IsTheDeepestChain) {
  const Result<StackBound> bound =
      stack_bound({node("kws_run", "kws_run", 24) + node("k.c:conv", "conv", 64) +
                       edge("kws_run", "k.c:conv") + edge("kws_run", "softmax"),
                   node("softmax", "softmax", 80) + library("memcpy") + edge("softmax", "memcpy") +
                       node("unused", "unused", 5000)},
                  "kws_run");
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->bytes, 24 + 80 + 96) << "96 for a function of the C library";
  EXPECT_EQ(bound->chain, (Chain{"kws_run 24", "softmax 80", "memcpy 96"}));
}

TEST(StackBound, CountsWhatAssemblyPushes) {
  const Result<StackBound> bound =
      stack_bound({node("m_run", "m_run", 8) + node("k.c:dot_pushes_20", "dot_pushes_20", 24) +
                   node("k.c:rows_pushes_8.constprop.0", "rows_pushes_8.constprop", 40) +
                   edge("m_run", "k.c:dot_pushes_20") +
                   edge("k.c:dot_pushes_20", "k.c:rows_pushes_8.constprop.0")},
                  "m_run");
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->bytes, 8 + 24 + 20 + 40 + 8);
}

TEST(StackBound, TwoPathsToOneFunctionAreNoRecursion) {
  const Result<StackBound> bound = stack_bound(
      {node("m_run", "m_run", 8) + node("a", "a", 16) + node("b", "b", 32) + node("c", "c", 64) +
       edge("m_run", "a") + edge("m_run", "b") + edge("a", "c") + edge("b", "c") + edge("a", "b")},
      "m_run");
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->chain, (Chain{"m_run 8", "a 16", "b 32", "c 64"}));
  EXPECT_EQ(bound->bytes, 120);
}

TEST(StackBound, RecursionAnywhereIsRefused) {
  const std::string deep = node("m_run", "m_run", 8) + node("a", "a", 16) + node("b", "b", 32) +
                           edge("m_run", "a") + edge("a", "b") + edge("b", "a");
  EXPECT_FALSE(stack_bound({deep}, "m_run").ok());
  EXPECT_FALSE(stack_bound({node("m_run", "m_run", 8) + edge("m_run", "m_run")}, "m_run").ok());
  EXPECT_FALSE(stack_bound({deep}, "other_run").ok()) << "nothing is known of it";
}

// A kernel that nobody calls by name is deeper than the driver, and cannot be what a package's call
// reaches: the stack of the device's function counts, and only that.
TEST(StackBound, ThePackagesCallReachesDevicesOnly) {
  const std::string driver = node("d.cpp:_ZN3npu3runE", kDevice, 48) +
                             node("d.cpp:_ZN3npu4waitE", "void npu::Npu<Bus>::wait() const", 16) +
                             edge("d.cpp:_ZN3npu3runE", "d.cpp:_ZN3npu4waitE") + kIndirect +
                             edge("d.cpp:_ZN3npu4waitE", "__indirect_call");
  const std::string kernels =
      node("intarsia_thumb_any", "intarsia_thumb_any", 464) +
      node("intarsia_npu_open", "intarsia_status intarsia_npu_open(void*)", 900);
  const Result<StackBound> bound = stack_bound({model_with_device(), driver, kernels}, "kws_run");
  ASSERT_TRUE(bound.ok()) << bound.error().to_string();
  EXPECT_EQ(bound->bytes, 40 + 104 + 48 + 16);
  EXPECT_EQ(bound->chain, (Chain{"kws_run 40", "intarsia_package_run 104",
                                 "npu::{anonymous}::run 48", "npu::Npu<Bus>::wait 16"}));
}

TEST(StackBound, TheDeepestOfSeveralDevicesCounts) {
  const std::string drivers = node("a.cpp:run", kDevice, 48) + node("b.cpp:run", kDevice, 148) +
                              node("c.c:run", "run", 100);
  const Result<StackBound> bound = stack_bound({model_with_device(), drivers}, "kws_run");
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->bytes, 40 + 104 + 148);
}

TEST(StackBound, DriversInCAreFoundByTheirAddressBeingTaken) {
  const std::string kernel = node("intarsia_thumb_any", "intarsia_thumb_any", 464);
  Result<StackBound> bound =
      stack_bound({model_with_device(), kernel, node("c.c:run", "run", 100)}, "kws_run");
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->bytes, 40 + 104 + 100);
  // Nothing tells which one it is: any that nobody calls, so that the bound holds.
  bound = stack_bound({model_with_device(), kernel, node("npu_run", "npu_run", 100)}, "kws_run");
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->bytes, 40 + 104 + 464);
}

TEST(StackBound, OtherCallsThroughPointersReachStaticFunctions) {
  const Result<StackBound> bound = stack_bound(
      {node("m_run", "m_run", 8) + kIndirect + edge("m_run", "sort") + node("sort", "sort", 32) +
       edge("sort", "__indirect_call") + node("s.c:compare", "compare", 20)},
      "m_run");
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->bytes, 60);
}

}  // namespace
}  // namespace intarsia::build
