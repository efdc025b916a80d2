// The words of every complaint about a target text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_catalogue.h"

namespace intarsia::test {
namespace {

struct ErrorCase {
  const char* text;
  const char* complaint;
};

void PrintTo(const ErrorCase& error, std::ostream* out) {
  *out << error.text;
}

class TargetErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(TargetErrors, SaysWhatAndWhereAndWhatToDo) {
  EXPECT_EQ(complaint(GetParam().text), std::string("--target") + GetParam().complaint + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Names, TargetErrors,
    testing::Values(
        ErrorCase{"cortex-m56",
                  ": there is no target kind or tag 'cortex-m56'; did you mean 'cortex-m55'?"},
        ErrorCase{"zzzzzzzz",
                  ": there is no target kind or tag 'zzzzzzzz'; 'intarsia targets' lists the kinds "
                  "and tags there are"},
        ErrorCase{
            "c + etos-u",
            ", character 5: there is no target kind or tag 'etos-u'; did you mean 'ethos-u'?"},
        ErrorCase{R"({"kind":"etosn"})",
                  ": there is no target kind or tag 'etosn'; did you mean 'ethosn'?"},
        ErrorCase{R"({"kind":"cortex-m7"})",
                  ": 'cortex-m7' is a tag, not a kind; write {\"tag\":\"cortex-m7\"}"},
        ErrorCase{R"({"tag":"c"})", ": 'c' is a kind, not a tag; write {\"kind\":\"c\"}"},
        ErrorCase{"c -mcp=cortex-m7",
                  ", character 3: 'c' has no attribute 'mcp'; did you mean 'mcpu'?"},
        ErrorCase{"ethos-u55-128 -x=1",
                  ", character 15: 'ethos-u' has no attribute 'x'; it has macs, memory-mode"},
        ErrorCase{R"({"kind":"c","mcp":"x"})",
                  ": 'c' has no attribute 'mcp'; did you mean 'mcpu'?"},
        ErrorCase{"composite -a=b",
                  ": a composite is not written as a kind with attributes; write 'host + device', "
                  "or JSON with 'target_host' and 'devices'"}));

INSTANTIATE_TEST_SUITE_P(
    Values, TargetErrors,
    testing::Values(
        ErrorCase{"c -mfloat-abi=hrad",
                  ", character 3: attribute 'mfloat-abi' of 'c' cannot be 'hrad'; choices: soft, "
                  "softfp, hard"},
        ErrorCase{"c -mfloat-abi=softf",
                  ", character 3: attribute 'mfloat-abi' of 'c' cannot be 'softf'; did you mean "
                  "'soft'? choices: soft, softfp, hard"},
        ErrorCase{"c -unroll=many",
                  ", character 3: attribute 'unroll' of 'c' takes an integer, got 'many'"},
        ErrorCase{"c -unroll=17",
                  ", character 3: attribute 'unroll' of 'c' cannot be 17; it takes int, 1..16"},
        ErrorCase{
            "c -unroll=99999999999999999999",
            ", character 3: attribute 'unroll' of 'c' has no room for '99999999999999999999'"},
        ErrorCase{R"({"kind":"c","unroll":18446744073709551615})",
                  ": attribute 'unroll' of 'c' has no room for '18446744073709551615'"},
        ErrorCase{R"({"kind":"c","unroll":"4"})",
                  ": attribute 'unroll' of 'c' takes an integer, got '4'"},
        ErrorCase{R"({"kind":"c","unroll":1.5})",
                  ": attribute 'unroll' of 'c' takes an integer, got 1.5"},
        ErrorCase{R"({"kind":"c","mcpu":["a"]})",
                  ": attribute 'mcpu' of 'c' takes a word, got a JSON array; choices: generic, "
                  "cortex-m0, cortex-m4, cortex-m7, cortex-m55"},
        ErrorCase{R"({"kind":"c","libs":["a",1]})",
                  ": attribute 'libs' of 'c' takes a list of texts, got a JSON array"},
        ErrorCase{"c -fast-math=maybe",
                  ", character 3: attribute 'fast-math' of 'c' takes true or false, got 'maybe'"},
        ErrorCase{"c -mcpu",
                  ", character 3: attribute 'mcpu' of 'c' has no value; write -mcpu=<generic | "
                  "cortex-m0 | cortex-m4 | cortex-m7 | cortex-m55>"},
        ErrorCase{
            "c -unroll=",
            ", character 3: attribute 'unroll' of 'c' has no value; write -unroll=<int, 1..16>"},
        ErrorCase{"c -libs=a,,b",
                  ", character 3: attribute 'libs' of 'c' has an empty element; take the comma "
                  "away, or write \"\""},
        ErrorCase{R"({"kind":"c","section":"a\u0007b"})",
                  ": attribute 'section' of 'c' has control characters or is not UTF-8: 'a?b'"},
        ErrorCase{"c -unroll=2 -unroll=2", ", character 13: attribute 'unroll' is given twice"},
        ErrorCase{R"({"kind":"c","unroll":2,"unroll":2})", ": 'unroll' is given twice"},
        ErrorCase{
            "c + sized",
            ", character 5: 'sized' needs attribute 'size' (how large); write -size=<int, 0..100>"},
        ErrorCase{"c -mfloat-abi=hard",
                  ": c: mfloat-abi=hard needs a floating-point unit; write -mfpu=fpv5-d16"}));

INSTANTIATE_TEST_SUITE_P(
    Composition, TargetErrors,
    testing::Values(
        ErrorCase{"ethos-u -macs=64",
                  ": 'ethos-u' is an accelerator: it runs parts of a model and needs a host CPU; "
                  "write 'cortex-m55 + ethos-u -macs=64'"},
        ErrorCase{"ethos-u85-512",
                  ": 'ethos-u' is an accelerator: it runs parts of a model and needs a host CPU; "
                  "write 'cortex-m55 + ethos-u85-512'"},
        ErrorCase{"opencl",
                  ": 'opencl' is a device: it runs parts of a model and needs a host CPU; write "
                  "'cortex-m0 + opencl'"},
        ErrorCase{R"({"kind":"ethosn"})",
                  ": 'ethosn' is an accelerator: it runs parts of a model and needs a host CPU; "
                  "write 'cortex-m0 + {\"kind\":\"ethosn\"}'"},
        ErrorCase{"ethos-u55-128 + cortex-m55",
                  ": a device before a host: 'ethos-u55-128' (ethos-u) comes first, and the host "
                  "must be a CPU; write 'cortex-m55 + ethos-u55-128'"},
        ErrorCase{"ethos-u55-128 -macs=64+ethosn",
                  ": a device before a host: 'ethos-u55-128 -macs=64' (ethos-u) comes first, and "
                  "the host must be a CPU; write 'cortex-m55 + ethos-u55-128 -macs=64 + ethosn'"},
        ErrorCase{R"({"kind":"composite","target_host":"ethos-u55-128","devices":["c"]})",
                  ", target_host: the host must be a CPU, and 'ethos-u' is not; name a CPU as "
                  "'target_host', and ethos-u55-128 in 'devices'"},
        ErrorCase{
            R"({"kind":"composite","target_host":{"kind":"composite","target_host":"c","devices":["opencl"]},"devices":["ethosn"]})",
            ", target_host: nested composite: the host is a composite itself; name one CPU as "
            "'target_host' and list all 'devices' in one composite"},
        ErrorCase{R"({"kind":"composite","target_host":"c","devices":["c + ethosn"]})",
                  ", devices[0]: nested composite: 'c + ethosn' is a composite itself and cannot "
                  "be a device; list its devices one by one"},
        ErrorCase{R"(c + {"kind":"composite","target_host":"c","devices":["ethosn"]})",
                  ", character 5: nested composite: "
                  "'{\"kind\":\"composite\",\"target_host\":\"c\",\"devices\":[\"ethosn\"]}' is "
                  "a composite itself and cannot be a device; list its devices one by one"},
        ErrorCase{R"({"kind":"composite","target_host":"c","devices":[]})",
                  ": empty composite: it has no 'devices'; write the plain target c"},
        ErrorCase{R"({"kind":"composite"})",
                  ": empty composite: it has no 'target_host' and no 'devices'; write "
                  "\"target_host\":\"c\", or another CPU"},
        ErrorCase{
            R"({"kind":"composite","devices":["ethosn"]})",
            ": the composite has no 'target_host'; write \"target_host\":\"c\", or another CPU"},
        ErrorCase{R"({"kind":"composite","target_host":"c","devices":"ethosn"})",
                  ": 'devices' is a list, not a JSON string; write \"devices\":[...]"},
        ErrorCase{R"({"kind":"composite","target_host":"c","devices":[7]})",
                  ", devices[0]: a target is an object or a string, not a JSON number"},
        ErrorCase{R"({"kind":"composite","target_host":"c","devices":["ethosn"],"mcpu":"x"})",
                  ": a composite has no attribute 'mcpu'; it has 'target_host' and 'devices'; "
                  "attributes belong to these"},
        ErrorCase{R"({"target_host":"c","devices":[]})",
                  ": empty composite: it has no 'devices'; write the plain target c"},
        ErrorCase{R"({"devices":["ethosn"]})",
                  ": a target needs a 'kind' or a 'tag'; a composite is "
                  "{\"kind\":\"composite\",\"target_host\":...,\"devices\":[...]}"},
        ErrorCase{
            "a: c; a: c",
            ", character 10: two devices are called 'a'; give each device a name of its own"}));

INSTANTIATE_TEST_SUITE_P(
    Form, TargetErrors,
    testing::Values(
        ErrorCase{"", ": the target is empty; name a target kind or tag"},
        ErrorCase{"  \t", ": the target is empty; name a target kind or tag"},
        ErrorCase{"c +", ", character 3: nothing follows '+'; name the device to add"},
        ErrorCase{"cortex-m0+",
                  ", character 10: nothing follows '+'; did you mean 'cortex-m0plus'?"},
        ErrorCase{"+ c", ": a target is missing before '+'"},
        ErrorCase{"c ++ c", ", character 4: a target is missing before '+'"},
        ErrorCase{"c; ; c", ", character 4: a target is missing before ';'"},
        ErrorCase{"a:", ", character 3: no target follows 'a:'"},
        ErrorCase{"1a: c",
                  ": '1a' cannot name a device; a name begins with a letter and has letters, "
                  "digits, '_', '.' and '-'"},
        ErrorCase{"c -mcpu cortex-m7",
                  ", character 9: unexpected 'cortex-m7'; write '-mcpu=cortex-m7'"},
        ErrorCase{"c cortex-m7",
                  ", character 3: unexpected 'cortex-m7'; attributes are written -name=value"},
        ErrorCase{
            "c,c",
            ", character 2: unexpected ',c'; devices stand beside each other with '+' between"},
        ErrorCase{"c - x",
                  ", character 3: an attribute has no name; attributes are written -name=value"},
        ErrorCase{"-mcpu=x", ": expected a target kind or tag, found '-mcpu=x'"},
        ErrorCase{
            "a: b: c",
            ", character 5: unexpected ':'; a name stands first: 'name: kind -attribute=value'"},
        ErrorCase{"c -section=\"abc", ", character 12: the quote \" is not closed"},
        ErrorCase{R"(c -section="a\n")",
                  ", character 14: unknown escape in a quoted value; there are \\\\, \\\" and \\'"},
        ErrorCase{R"({"kind":"c"} x)", ", character 14: unexpected 'x' after the JSON object"},
        ErrorCase{R"({"kind":"c"}})", ", character 13: unexpected '}' after the JSON object"},
        ErrorCase{R"({"kind":5})", ": 'kind' is a string, not a JSON number"},
        ErrorCase{R"({"kind":"c","tag":"cortex-m7"})",
                  ": a target has a 'kind' or a 'tag', not both"},
        ErrorCase{R"({"kind":"c","name":"a b"})",
                  ": 'a b' cannot name a device; a name begins with a letter and has letters, "
                  "digits, '_', '.' and '-'"},
        ErrorCase{"c \x01", ", character 3: byte 0x01 is a control character or not UTF-8"},
        ErrorCase{"\xc3\xa9 \xff",
                  ", character 3: byte 0xff is a control character or not UTF-8"}));

TEST(TargetErrorsMore, MalformedJsonSaysWhere) {
  EXPECT_THAT(complaint(R"({"kind":c})"),
              testing::StartsWith("--target, character 9: malformed JSON: invalid literal"));
  EXPECT_THAT(
      complaint(R"(c + {"kind":)"),
      testing::StartsWith("--target, character 13: malformed JSON: unexpected end of input"));
  EXPECT_THAT(complaint(R"({"kind":"c",})"),
              testing::StartsWith("--target, character 13: malformed JSON:"));
  EXPECT_THAT(complaint("{[[[[[[[[[[[[[["),
              testing::StartsWith("--target, character 2: malformed JSON:"));
  EXPECT_EQ(complaint(R"({"kind":)" + std::string(30, '[') + std::string(30, ']') + "}"),
            "--target: the JSON is nested too deeply\n");
}

TEST(TargetErrorsMore, AllProblemsAreReportedTogether) {
  EXPECT_EQ(
      complaint("c -mcp=1 -unroll=99 + etos-u + ethosn"),
      "--target, character 3: 'c' has no attribute 'mcp'; did you mean 'mcpu'?\n"
      "--target, character 10: attribute 'unroll' of 'c' cannot be 99; it takes int, 1..16\n"
      "--target, character 23: there is no target kind or tag 'etos-u'; did you mean 'ethos-u'?\n");
}

TEST(TargetErrorsMore, LongTextsAreRefusedOrClipped) {
  EXPECT_EQ(complaint(std::string(70000, 'c')),
            "--target: the target text has 70000 bytes, more than 65536\n");
  EXPECT_EQ(complaint(std::string(1000, 'c')),
            "--target: there is no target kind or tag '" + std::string(60, 'c') +
                "...'; 'intarsia targets' lists the kinds and tags there are\n");
  std::string many = "c";
  for (int i = 0; i < 64; ++i) many += "+c";
  EXPECT_EQ(complaint(many), "--target: a target has at most 64 devices\n");
}

}  // namespace
}  // namespace intarsia::test
