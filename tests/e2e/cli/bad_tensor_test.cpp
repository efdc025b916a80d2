// Input tensors and package folders given to `run`.
#include <fmt/format.h>

#include "cli.h"

namespace intarsia::test {
namespace {

// A .npy file, version 1.0, as numpy writes it.
std::vector<uint8_t> npy(const std::string& type, const std::string& shape,
                         const std::vector<uint8_t>& data,
                         const std::string& fortran_order = "False") {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type,
                                   fortran_order, shape);
  while ((10 + header.size()) % 64 != 63) header += ' ';
  header += '\n';
  std::string text = "\x93NUMPY\x01";
  text += '\0';
  text += static_cast<char>(header.size());
  text += static_cast<char>(header.size() >> 8);
  text += header;
  text.append(data.begin(), data.end());
  return {text.begin(), text.end()};
}

class Tensor : public Cli {
 protected:
  ProcessOutcome run(const std::vector<std::string>& inputs,
                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run", digits_path(), "--output-dir", "out"};
    for (const std::string& input : inputs) arguments.insert(arguments.end(), {"--input", input});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return intarsia(arguments);
  }
  std::vector<uint8_t> image(int index) const {
    write_image("image.bin", index);
    return read("image.bin");
  }
};

TEST_F(Tensor, WrongCount) {
  write_image("in.bin", 0);
  EXPECT_TRUE(refused(run({}), {"--input: 0 given, digits takes 1"}));
  EXPECT_TRUE(refused(run({"in.bin", "in.bin"}), {"--input: 2 given, digits takes 1"}));
  EXPECT_FALSE(exists("out"));
}

TEST_F(Tensor, WrongSize) {
  for (const size_t size : {size_t{0}, size_t{63}, size_t{65}, size_t{128}}) {
    write("in.bin", std::vector<uint8_t>(size));
    EXPECT_TRUE(
        refused(run({"in.bin"}),
                {fmt::format("in.bin: has {} bytes, input 'image' (i8[1,8,8,1]) takes 64", size)}));
  }
  write("in.bin", std::vector<uint8_t>(150));
  EXPECT_TRUE(refused(run({"in.bin"}, {"--repeat", "3"}), {"takes 64, or 192 for 3 runs"}));
  EXPECT_FALSE(exists("out"));
}

TEST_F(Tensor, AFileThatNeverEnds) {
  EXPECT_TRUE(
      refused(run({"/dev/zero"}), {"/dev/zero: is longer than the 64 bytes that input 'image' "
                                   "(i8[1,8,8,1]) takes"}));
  EXPECT_TRUE(refused(run({"/dev/zero"}, {"--repeat", "3"}), {"is longer than the 192 bytes"}));
  EXPECT_FALSE(exists("out"));
}

TEST_F(Tensor, Missing) {
  EXPECT_TRUE(
      refused(run({"absent.bin"}), {"absent.bin: cannot be read: No such file or directory"}));
}

TEST_F(Tensor, Npy) {
  write("in.npy", npy("|i1", "(1, 8, 8, 1)", image(4)));
  EXPECT_TRUE(done(run({"in.npy"})));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(4));
}

TEST_F(Tensor, NpyOfAnotherType) {
  write("in.npy", npy("<f4", "(1, 8, 8, 1)", std::vector<uint8_t>(256)));
  EXPECT_TRUE(refused(run({"in.npy"}),
                      {"in.npy: holds elements of type '<f4', input 'image' needs i8", "astype"}));
  write("in.npy", npy("|u1", "(64,)", std::vector<uint8_t>(64)));
  EXPECT_TRUE(refused(run({"in.npy"}), {"'|u1'"}));
}

TEST_F(Tensor, NpyInColumnOrder) {
  write("in.npy", npy("|i1", "(8, 8)", std::vector<uint8_t>(64), "True"));
  EXPECT_TRUE(refused(run({"in.npy"}), {"in.npy: is stored in column order"}));
}

TEST_F(Tensor, NpyOfAnotherSize) {
  write("in.npy", npy("|i1", "(10,)", std::vector<uint8_t>(10)));
  EXPECT_TRUE(refused(run({"in.npy"}), {"in.npy: has 10 bytes"}));
}

TEST_F(Tensor, NpyThatEndsTooEarly) {
  const std::vector<uint8_t> whole = npy("|i1", "(64,)", {});
  for (const size_t size : {6u, 9u, 11u, 40u}) {
    write("in.npy", std::vector<uint8_t>(whole.begin(), whole.begin() + size));
    EXPECT_TRUE(refused(run({"in.npy"}), {"in.npy: is a truncated .npy file"})) << size;
  }
}

TEST_F(Tensor, OneSliceForEachRun) {
  std::vector<uint8_t> images;
  for (int i = 0; i < 3; ++i) {
    const std::vector<uint8_t> one = image(i);
    images.insert(images.end(), one.begin(), one.end());
  }
  write("in.bin", images);
  EXPECT_TRUE(done(run({"in.bin"}, {"--repeat", "3"})));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(2)) << "the last outputs are written";
  EXPECT_TRUE(done(run({"in.bin"}, {"--repeat", "3", "--keep-all"})));
  std::vector<uint8_t> all;
  for (int i = 0; i < 3; ++i) {
    const std::vector<uint8_t> one = recorded_scores(i);
    all.insert(all.end(), one.begin(), one.end());
  }
  EXPECT_EQ(read("out/out0.bin"), all);
}

TEST_F(Tensor, CountingNeedsAnEmulator) {
  write_image("in.bin", 0);
  EXPECT_TRUE(refused(run({"in.bin"}, {"--count-instructions"}),
                      {"--count-instructions", "board host has none"}));
}

TEST_F(Tensor, FolderOfAnotherBoardOrTarget) {
  write_image("in.bin", 0);
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "package"})));
  const auto run_folder = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "package", "--input", "in.bin", "--output-dir", "out"});
    return intarsia(more);
  };
  EXPECT_TRUE(refused(run_folder({"--board", "mps2-an386"}),
                      {"package: was compiled for board host, not mps2-an386"}));
  EXPECT_TRUE(refused(run_folder({"--target", "cortex-m4"}),
                      {"package: was compiled for target c, not c -mcpu=cortex-m4"}));
  EXPECT_FALSE(exists("out"));
  EXPECT_TRUE(done(run_folder({"--target", "c"})));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(0));
}

TEST_F(Tensor, FolderThatIsNoPackage) {
  write("folder/manifest.txt", std::string("text"));
  write_image("in.bin", 0);
  const std::vector<std::string> command = {"run",    "folder",       "--input",
                                            "in.bin", "--output-dir", "out"};
  EXPECT_TRUE(refused(intarsia(command), {"folder: is not the folder of a compiled model"}));
  write("folder/manifest.json", std::string("{"));
  EXPECT_TRUE(refused(intarsia(command),
                      {"folder/manifest.json: is not a manifest", "compile the model again"}));
  write("folder/manifest.json", std::string("{\"intarsia_package\": 999}"));
  EXPECT_TRUE(refused(intarsia(command), {"version 999 of the runtime"}));
}

}  // namespace
}  // namespace intarsia::test
