// The Rust crate: built by its own build script and run on this machine; for a core, what it says of the core.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Rust : public Cli {
 protected:
  // The packages that it needs are all paths.
  ProcessOutcome cargo(const std::vector<std::string>& words, const std::string& folder) const {
    std::vector<std::string> command = {"cargo"};
    command.insert(command.end(), words.begin(), words.end());
    command.push_back("--offline");
    return program(command, folder);
  }
};

TEST_F(Rust, TheSampleRunsOnThisMachine) {
  if (!have_program("cargo")) GTEST_SKIP() << needs("cargo") << "it is not installed";
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--format", "rust", "-o", "crate"})));
  // A name that is no snake case behind the prefix of the crate.
  ASSERT_TRUE(done(intarsia(
      {"compile", digits_path(), "--name", "_digits", "--format", "rust", "-o", "named"})));
  setenv("RUSTFLAGS", "-D warnings", 1);
  const ProcessOutcome named = cargo({"run"}, "named/sample");
  EXPECT_TRUE(named.succeeded()) << named.err;
  EXPECT_THAT(named.out, HasSubstr("_digits: 10 of 10 exact"));
  for (const char* build : {"run", "run --release"}) {
    const ProcessOutcome outcome =
        cargo(std::string(build) == "run" ? std::vector<std::string>{"run"}
                                          : std::vector<std::string>{"run", "--release"},
              "crate/sample");
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("digits: 10 of 10 exact"));
  }
  unsetenv("RUSTFLAGS");
}

// As build systems of whole systems and caches of compilers set it: a program with words behind it, and options.
TEST_F(Rust, TheCompilerMayBeSeveralWords) {
  if (!have_program("cargo")) GTEST_SKIP() << needs("cargo") << "it is not installed";
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--format", "rust", "-o", "crate"})));
  const auto with = [&](const std::string& compiler, const std::string& flags) {
    return program({"env", "CC=" + compiler, "CFLAGS=" + flags, "AR=", "cargo", "run", "--offline"},
                   "crate/sample");
  };
  const ProcessOutcome outcome = with("env MARK=1 cc -DFIRST=1", "-DSECOND=1 -Werror");
  EXPECT_TRUE(outcome.succeeded()) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("digits: 10 of 10 exact"));
  EXPECT_THAT(with("cc", "-include /nowhere.h").err, HasSubstr("/nowhere.h"));
  EXPECT_THAT(with("no-such-cc -O2", "").err, HasSubstr("no-such-cc -O2 cannot be started"));
}

// A program of one's own: two models of one crate's memory each, a wrong index, an instance used again.
TEST_F(Rust, TwoModelsAndASecondRunAreExact) {
  if (!have_program("cargo")) GTEST_SKIP() << needs("cargo") << "it is not installed";
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--format", "rust", "-o", "crate"})));
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--name", "other", "--optimise", "size",
                             "--weights-file", "always", "--format", "rust", "-o", "other"})));
  EXPECT_TRUE(exists("other/c/other_weights.S"));
  write("user/Cargo.toml",
        std::string("[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n"
                    "[dependencies]\nintarsia_digits = { path = \"../crate\" }\n"
                    "intarsia_other = { path = \"../other\" }\n\n[workspace]\n"));
  write("user/src/main.rs", std::string(R"(use intarsia_digits::{input0, output0, Memory, Model};

fn main() {
    let (mut one, mut two) = (Memory::new(), Box::new(Memory::new()));
    let mut other = intarsia_other::Memory::new();
    let mut first = Model::new(&mut one).unwrap();
    let mut second = Model::new(&mut two).unwrap();
    let mut third = intarsia_other::Model::new(&mut other).unwrap();
    for run in 0..3 {
        let value = input0::quantize(run as f32 / 4.0);
        assert_eq!(input0::dequantize(value), input0::SCALE * (value as i32 - input0::ZERO_POINT) as f32);
        first.input0().fill(value);
        second.input0().fill(value);
        third.input0().fill(value);
        first.run().unwrap();
        second.run().unwrap();
        third.run().unwrap();
        assert_eq!(first.output0(), second.output0());
    }
    // The largest number that is less than half a step away from zero, and the next one.
    let mut real = output0::SCALE / 2.0;
    while real / output0::SCALE >= 0.5 {
        real = f32::from_bits(real.to_bits() - 1);
    }
    assert_eq!(output0::quantize(real), output0::quantize(0.0));
    assert_eq!(output0::quantize(-real), output0::quantize(0.0));
    let next = f32::from_bits(real.to_bits() + 1);
    assert_eq!(output0::quantize(next), output0::quantize(output0::SCALE));
    assert_eq!(input0::quantize(1000.0), i8::MAX);
    assert_eq!(input0::quantize(-1000.0), i8::MIN);
    println!("same");
}
)"));
  const ProcessOutcome outcome = cargo({"run"}, "user");
  EXPECT_TRUE(outcome.succeeded()) << outcome.err;
  EXPECT_EQ(outcome.out, "same\n");
}

// With the standard library of the core's target (rustup target add) and the crates of the sample in cargo's cache.
TEST_F(Rust, TheSampleRunsOnACortexM4) {
  if (!have_program("cargo")) GTEST_SKIP() << needs("cargo") << "it is not installed";
  if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  ASSERT_TRUE(done(intarsia(
      {"compile", digits_path(), "--board", "mps2-an386", "--format", "rust", "-o", "crate"})));
  const ProcessOutcome library =
      program({"rustc", "--print", "target-libdir", "--target", "thumbv7em-none-eabihf"});
  const std::string folder = library.out.substr(0, library.out.find('\n'));
  if (!library.succeeded() || !std::filesystem::exists(folder) ||
      !cargo({"fetch"}, "crate/sample").succeeded())
    GTEST_SKIP() << needs("rust-for-cores")
                 << "no thumbv7em-none-eabihf, or not the sample's crates";
  const ProcessOutcome outcome = cargo({"run", "--release"}, "crate/sample");
  EXPECT_TRUE(outcome.succeeded()) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("digits: 10 of 10 exact"));
}

TEST_F(Rust, ACrateForACoreSaysItsTarget) {
  ASSERT_TRUE(done(intarsia(
      {"compile", digits_path(), "--board", "mps2-an386", "--format", "rust", "-o", "crate"})));
  const auto files = read_folder("crate");
  EXPECT_THAT(files.at("sample/.cargo/config.toml"),
              HasSubstr("target = \"thumbv7em-none-eabihf\"\n"));
  EXPECT_THAT(files.at("sample/.cargo/config.toml"), HasSubstr("\"-M\", \"mps2-an386\""));
  EXPECT_THAT(files.at("build.rs"), HasSubstr("\"-mfloat-abi=hard\""));
  EXPECT_THAT(files.at("build.rs"), HasSubstr("\"arm-none-eabi-gcc\""));
  EXPECT_THAT(files.at("sample/memory.x"), HasSubstr("FLASH : ORIGIN = 0x0, LENGTH = 0x400000"));
  EXPECT_THAT(files.at("src/lib.rs"), HasSubstr("#![no_std]"));
  ASSERT_TRUE(done(intarsia(
      {"compile", digits_path(), "--board", "mps2-an385", "--format", "rust", "-o", "crate"})));
  EXPECT_THAT(read_folder("crate").at("sample/.cargo/config.toml"),
              HasSubstr("target = \"thumbv7m-none-eabi\"\n"));
}

}  // namespace
}  // namespace intarsia::test
