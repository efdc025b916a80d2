// Estimated cycles: from the disassembler's text to what a core takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include <fmt/format.h>

#include "board/cycles/cycle_listing.h"
#include "board/cycles/timed_instruction.h"
#include "sample_board.h"
#include "support/files.h"

extern "C" {
#include "qemu_plugin/cycles_listing.h"
}

namespace intarsia::board {
namespace {

constexpr RegisterSet r(int number) {
  return RegisterSet{1} << number;
}
constexpr RegisterSet s(int first, int count = 1) {
  return ((RegisterSet{1} << count) - 1) << (kFirstFloatRegister + first);
}
constexpr RegisterSet q(int number) {
  return s(4 * number, 4);
}

TimedInstruction timed(const std::string& mnemonic, const std::string& operands) {
  const std::optional<TimedInstruction> found =
      timed_instruction({0x100, 4, mnemonic, operands, {}});
  EXPECT_TRUE(found.has_value()) << mnemonic;
  return found.value_or(TimedInstruction{});
}

TEST(Disassembly, HasInstructionsWithOutermostPlaces) {
  const auto code = parse_disassembly(
      "\n00000000 <kws_run>:\nkws_run():\n/src/kws.c:259 (discriminator 2)\n"
      "   0:\te92d 4ff7 \tstmdb\tsp!, {r0, r1, r2, r4, lr}\n"
      "kws_stem():\n/src/kws.c:68\ninlined by /src/kws.c:266 (kws_run)\n"
      "  14:\t4e5f      \tldr\tr6, [pc, #380]\t@ (194 <kws_run+0x194>)\n"
      "  16:\tf7ff fffe \tbl\t0 <intarsia_dsp_conv_s8>\n"
      "  1a:\t0000 0000 \t.word\t0x00000000\n"
      "\n00000020 <other>:\nother():\n  20:\t4770      \tbx\tlr\n");
  ASSERT_EQ(code.size(), 4u);
  EXPECT_EQ(code[0].source, (SourceLine{"/src/kws.c", 259}));
  EXPECT_EQ(code[0].operands, "sp!, {r0, r1, r2, r4, lr}");
  EXPECT_EQ(code[0].size, 4);
  EXPECT_EQ(code[1].source, (SourceLine{"/src/kws.c", 266}));
  EXPECT_EQ(code[1].operands, "r6, [pc, #380]");
  EXPECT_EQ(code[1].size, 2);
  EXPECT_EQ(code[2].mnemonic, "bl");
  EXPECT_EQ(code[2].source, (SourceLine{"/src/kws.c", 266}));
  EXPECT_EQ(code[3].address, 0x20u);
  EXPECT_EQ(code[3].source, SourceLine{});
}

TEST(TimedInstructions, ReadAndWriteRegisters) {
  const TimedInstruction add = timed("addeq.w", "r3, r4, r5, lsl #2");
  EXPECT_EQ(add.class_name, "Alu");
  EXPECT_EQ(add.written, r(3));
  EXPECT_EQ(add.read, r(4) | r(5));
  EXPECT_TRUE(add.shifts_operand);
  EXPECT_EQ(timed("adds", "r3, #1").read, r(3));
  EXPECT_EQ(timed("adds", "r3, r2, #1").read, r(2));
  EXPECT_EQ(timed("muls", "r0, r1").read, r(0) | r(1));
  EXPECT_EQ(timed("movs", "r0, r1").read, r(1));
  EXPECT_EQ(timed("mvn.w", "sl, fp").written, r(10));
  EXPECT_EQ(timed("cmp", "r0, r1").written, 0u);

  const TimedInstruction smlad = timed("smlad", "r0, r1, r2, r0");
  EXPECT_EQ(smlad.class_name, "MultiplyAdd");
  EXPECT_EQ(smlad.accumulated, r(0));
  EXPECT_EQ(smlad.read, r(0) | r(1) | r(2));
  EXPECT_EQ(timed("mla", "r0, r1, r1, r1").accumulated, 0u) << "not only added to";
  const TimedInstruction smlal = timed("smlal", "r0, r1, r2, r3");
  EXPECT_EQ(smlal.written, r(0) | r(1));
  EXPECT_EQ(smlal.accumulated, r(0) | r(1));
  EXPECT_EQ(timed("umull", "r0, r1, r2, r3").read, r(2) | r(3));
  EXPECT_EQ(timed("bfi", "r0, r1, #4, #8").read, r(0) | r(1));
}

TEST(TimedInstructions, OfMemoryHaveAddresses) {
  const TimedInstruction ldr = timed("ldrsb.w", "r0, [r1, r2, lsl #1]");
  EXPECT_EQ(ldr.of_address, r(1) | r(2));
  EXPECT_TRUE(ldr.register_offset);
  EXPECT_TRUE(ldr.part_of_word);
  EXPECT_FALSE(ldr.writes_back);
  EXPECT_EQ(timed("ldr.w", "r0, [r1], #4").written, r(0) | r(1));
  EXPECT_EQ(timed("ldr.w", "r0, [r1, #4]!").written, r(0) | r(1));
  EXPECT_TRUE(timed("ldr", "r0, [pc, #8]").literal);
  const TimedInstruction ldm = timed("ldmia.w", "r0!, {r1, r2, r5-r7}");
  EXPECT_EQ(ldm.words, 5);
  EXPECT_EQ(ldm.written, r(0) | r(1) | r(2) | r(5) | r(6) | r(7));
  EXPECT_EQ(ldm.of_address, r(0));
  const TimedInstruction push = timed("push", "{r4, lr}");
  EXPECT_EQ(push.read, r(4) | r(13) | r(14));
  EXPECT_EQ(push.written, r(13));
  EXPECT_EQ(timed("ldrd", "r0, r1, [r2, #8]").words, 2);
  EXPECT_EQ(timed("strd", "r0, r1, [r2], #8").written, r(2));
  EXPECT_EQ(timed("vldr", "d3, [r0]").written, s(6, 2));
  EXPECT_EQ(timed("vldmia", "r0!, {s4-s7}").written, r(0) | s(4, 4));
}

TEST(TimedInstructions, OfVectors) {
  const TimedInstruction sum = timed("vmlava.s8", "r0, q1, q2");
  EXPECT_EQ(sum.class_name, "VectorReduce");
  EXPECT_EQ(sum.accumulated, r(0));
  EXPECT_EQ(sum.read, r(0) | q(1) | q(2));
  EXPECT_EQ(timed("vldrbt.u8", "q0, [r1]").class_name, "VectorLoad");
  const TimedInstruction gather = timed("vldrb.u16", "q0, [r1, q2]");
  EXPECT_EQ(gather.class_name, "VectorGather");
  EXPECT_EQ(gather.elements, 8);
  EXPECT_EQ(timed("vstrb.8", "q0, [r1, q2]").class_name, "VectorScatter");
  EXPECT_EQ(timed("vqmovnt.s32", "q0, q1").read, q(0) | q(1));
  EXPECT_EQ(timed("vmov.32", "r0, q1[2]").written, r(0));
  EXPECT_EQ(timed("vmov.i16", "q0, #0").class_name, "VectorInteger");
  EXPECT_EQ(timed("vadd.f32", "q0, q1, q2").class_name, "VectorCompare");
  EXPECT_EQ(timed("vadd.f32", "s0, s1, s2").class_name, "FloatAdd");
  EXPECT_EQ(timed("vmov", "r0, r1, d4").read, s(8, 2));
  EXPECT_EQ(timed("vpstte", "").class_name, "VectorPredicate");
  EXPECT_EQ(timed("vpt.s16", "ge, q0, q1").class_name, "VectorCompare");
  EXPECT_EQ(timed("itet", "ge").class_name, "IfThen");
}

TEST(TimedInstructions, TakeNoAddressForARegister) {
  EXPECT_EQ(timed("b.n", "d4").read, 0u);
  EXPECT_EQ(timed("cbz", "r3, 1c").read, r(3));
  EXPECT_EQ(timed("bl", "d4").written, r(14));
  for (const char* branch : {"bls.n", "ble.w", "blt.n", "bne.n", "bcs.n", "bmi.n"})
    EXPECT_EQ(timed(branch, "10").class_name, "Branch") << branch;
  EXPECT_FALSE(timed_instruction({0, 4, "vfrobnicate.s8", "q0, q1", {}}).has_value());
}

constexpr RegisterSet x(int number) {
  return RegisterSet{1} << (number == 15 ? 0 : number);
}
constexpr RegisterSet f(int number) {
  return RegisterSet{1} << (32 + number);
}

TEST(TimedInstructions, OfRiscVReadAndWriteWhatTheirNamesSay) {
  const auto timed_of = [](const std::string& mnemonic, const std::string& operands) {
    const auto found = timed_riscv_instruction({0x100, 4, mnemonic, operands, {}});
    EXPECT_TRUE(found.has_value()) << mnemonic;
    return found.value_or(TimedInstruction{});
  };
  EXPECT_EQ(timed_of("add", "a0,s11,t6").written, x(10));
  EXPECT_EQ(timed_of("add", "a0,s11,t6").read, x(27) | x(31));
  EXPECT_EQ(timed_of("addi", "sp,sp,-16").read, x(2));
  EXPECT_EQ(timed_of("mv", "a5,zero").written, x(15));
  EXPECT_EQ(timed_of("mv", "a5,zero").read, 0u);
  EXPECT_EQ(timed_of("li", "t0,18").read, 0u);
  const TimedInstruction load = timed_of("lb", "s0,-3(a5)");
  EXPECT_EQ(load.class_name, "Load");
  EXPECT_EQ(load.written, x(8));
  EXPECT_EQ(load.of_address, x(15));
  EXPECT_TRUE(load.part_of_word);
  // What is stored is needed later than operands are.
  EXPECT_EQ(timed_of("sw", "a0,4(sp)").read, x(2));
  EXPECT_EQ(timed_of("sw", "a0,4(sp)").written, 0u);
  EXPECT_EQ(timed_of("bne", "a0,a1,80000010").read, x(10) | x(11));
  EXPECT_EQ(timed_of("jal", "800000fe").written, x(1));
  EXPECT_EQ(timed_of("jalr", "a5").written, x(1));
  EXPECT_EQ(timed_of("jalr", "a5").read, x(15));
  EXPECT_EQ(timed_of("ret", "").read, x(1));
  EXPECT_EQ(timed_of("fmadd.s", "fa0,fs2,ft8,fa1").read, f(18) | f(28) | f(11));
  EXPECT_EQ(timed_of("flw", "fs11,0(a0)").written, f(27));
  EXPECT_FALSE(timed_riscv_instruction({0, 4, "frobnicate", "a0,a1", {}}).has_value());
}

TEST(OperatorLinesOfASource, EndWithTheirTraceHook) {
  const std::string text =
      "#define KWS_TRACE(index, name, tensor, bytes) ((void)0)\n"  // 1
      "intarsia_status kws_run(struct kws *model) {\n"             // 2
      "  uint8_t *sram;\n"                                         // 3
      "  kws_stem(sram);\n"                                        // 4
      "  KWS_TRACE(0, \"stem\", sram, 1024);\n"                    // 5
      "  kws_pool((const int8_t *)sram,\n"                         // 6
      "      sram);\n"                                             // 7
      "  KWS_TRACE(1, \"pool\", sram, 10);\n"                      // 8
      "  status = intarsia_package_run(&model->package);\n"        // 9
      "  KWS_TRACE(2, \"scores\", sram, 10);\n"                    // 10
      "  kws_table(sram);\n"                                       // 11
      "  KWS_TRACE(3, \"table\", sram, 10);\n"                     // 12
      "  return INTARSIA_OK;\n"                                    // 13
      "}\n"
      "void kws_other(void) {\n  kws_stem(0);\n}\n";
  const std::vector<OperatorLines> lines = operator_lines("kws.c", text, "KWS_TRACE");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].first, 2);
  EXPECT_EQ(lines[0].last, 5);
  EXPECT_EQ(lines[0].name, "stem");
  EXPECT_EQ(lines[1].first, 6);
  EXPECT_EQ(lines[1].last, 8);
  EXPECT_EQ(lines[1].index, 1);
  std::vector<std::string> behind_streams;
  for (const OperatorLines& each : lines)
    if (each.starts_stream) behind_streams.push_back(each.name);
  EXPECT_EQ(behind_streams, std::vector<std::string>{"scores"});
}

// Every class that an instruction can have has a timing, on cores that have the instruction.
TEST(CoreTimings, KnowEveryClass) {
  const std::set<std::string> known_names = {
#define CLASS(name) #name,
#include "qemu_plugin/instruction_classes.def"
#undef CLASS
  };
  std::vector<std::string> names;
#define CLASS(name) names.push_back(#name);
#include "qemu_plugin/instruction_classes.def"
#undef CLASS
  std::set<std::string> core, floating, vector;
#define MNEMONIC(name, class_name, operands) core.insert(#class_name);
#define FLOATING(name, class_name, operands) floating.insert(#class_name);
#define VECTOR(name, class_name, operands) vector.insert(#class_name);
#include "board/cycles/thumb_mnemonics.def"
  vector.insert({"VectorGather", "VectorScatter"});
  const std::set<std::string> newer = {"LoopStart", "LoopEnd", "LongShift"};  // Armv8.1-M
  for (const char* name : {"cortex-m0", "cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7",
                           "cortex-m33", "cortex-m55"}) {
    core_timing timing;
    ASSERT_TRUE(core_timing_of(name, &timing)) << name;
    std::set<std::string> wanted = core;
    const bool helium = std::string(name) == "cortex-m55";
    wanted.insert(floating.begin(), floating.end());
    if (helium) wanted.insert(vector.begin(), vector.end());
    for (size_t i = 0; i < names.size(); ++i)
      if (wanted.count(names[i]) != 0 && (helium || newer.count(names[i]) == 0)) {
        EXPECT_TRUE(timing.classes[i].known) << name << " " << names[i];
      }
    for (const std::string& one : wanted) EXPECT_EQ(known_names.count(one), 1u) << one;
  }
  core_timing timing;
  EXPECT_FALSE(core_timing_of("cortex-m85", &timing));
#undef MNEMONIC
  std::set<std::string> of_riscv;
#define MNEMONIC(name, class_name, operands) of_riscv.insert(#class_name);
#include "board/cycles/riscv_mnemonics.def"
#undef MNEMONIC
  for (const char* name : {"rv32imc", "rv32imac", "rv32imafc"}) {
    ASSERT_TRUE(core_timing_of(name, &timing)) << name;
    for (size_t i = 0; i < names.size(); ++i)
      if (of_riscv.count(names[i]) != 0) {
        EXPECT_TRUE(timing.classes[i].known) << name << " " << names[i];
      }
    for (const std::string& one : of_riscv) EXPECT_EQ(known_names.count(one), 1u) << one;
  }
}

// Sequences through the listing and the model, as the plugin takes them.
class Sequences : public ::testing::Test {
 protected:
  struct Line {
    const char *mnemonic, *operands;
    uint8_t size = 4;
  };
  // Nominal cycles of the lines, one after another.
  double cycles(const std::string& core, const std::vector<Line>& lines, variant which = NOMINAL) {
    std::vector<CodeInstruction> code;
    uint32_t address = 0x1000;
    for (const Line& line : lines) {
      code.push_back({address, line.size, line.mnemonic, line.operands, {}});
      address += line.size;
    }
    const std::string path = ::testing::TempDir() + "intarsia_listing.txt";
    Board board;
    if (core.starts_with("rv32")) board.cores.emplace_back().name = core;
    EXPECT_TRUE(write_file(path, std::string_view(cycle_listing(board, code, {}))).ok());
    listing read{};
    EXPECT_TRUE(read_listing(path.c_str(), &read));
    EXPECT_EQ(read.count, lines.size());
    core_timing timing;
    EXPECT_TRUE(core_timing_of(core.c_str(), &timing)) << core;
    cycle_state state;
    cycles_start(&state, &timing);
    for (uint32_t i = 0; i < read.count; ++i) {
      instruction& one = read.instructions[i];
      EXPECT_TRUE(timing.classes[one.class_id].known) << lines[i].mnemonic;
      cycles_execute(&state, &one);
    }
    free(read.instructions);
    return static_cast<double>(state.total[which]) / 2;
  }
};

TEST_F(Sequences, OfRiscVWaitForLoads) {
  const std::string core = "rv32imac";
  EXPECT_EQ(cycles(core, {{"lw", "a0,0(a1)"}, {"add", "a2,a0,a3"}}), 3);
  EXPECT_EQ(cycles(core, {{"lw", "a0,0(a1)"}, {"add", "a2,a4,a3"}}), 2);
  EXPECT_EQ(cycles(core, {{"lw", "a5,0(a1)"}, {"lw", "a2,0(a5)"}}), 3);
  EXPECT_EQ(cycles(core, {{"lw", "a0,0(a1)"}, {"sw", "a0,0(a2)"}}), 2);
  EXPECT_EQ(cycles(core, {{"mul", "a0,a1,a2"}, {"add", "a0,a0,a0"}}), 2);
  EXPECT_EQ(cycles(core, {{"divu", "a0,a1,a2"}, {"add", "a0,a0,a0"}}), 19);
}

// The backward branch that was taken last is predicted to be taken, and no other.
TEST(Branches, OfRiscVAreRememberedOneAtATime) {
  core_timing timing;
  ASSERT_TRUE(core_timing_of("rv32imac", &timing));
  cycle_state state;
  cycles_start(&state, &timing);
  const auto named = [](uint32_t address) {
    instruction made{};
    made.address = address, made.size = 4, made.class_id = CLASS_Branch;
    return made;
  };
  instruction loop = named(0x100), other = named(0x200);
  const auto added = [&](instruction& branch, uint32_t to) {
    cycles_execute(&state, &branch);
    const half_cycles before = state.total[NOMINAL];
    cycles_continue_at(&state, to, nullptr);
    return static_cast<double>(state.total[NOMINAL] - before) / 2;
  };
  EXPECT_EQ(added(loop, 0x80), 1);  // not known yet
  EXPECT_EQ(added(loop, 0x80), 0);
  EXPECT_EQ(added(other, 0x240), 1);  // forwards, which is not remembered
  EXPECT_EQ(added(loop, 0x80), 0);
  EXPECT_EQ(added(loop, 0x104), 1);  // predicted to be taken
  EXPECT_EQ(added(loop, 0x104), 0);
  EXPECT_EQ(added(other, 0x180), 1);
  EXPECT_EQ(added(other, 0x204), 1);
}

// The examples of the Cortex-M3's manual, "load/store timings".
TEST_F(Sequences, OfLoadsAndStoresTakeWhatTheManualSays) {
  for (const char* core : {"cortex-m3", "cortex-m4"}) {
    EXPECT_EQ(cycles(core, {{"ldr", "r0, [r1]"}, {"ldr", "r1, [r2]"}}), 3) << core;
    EXPECT_EQ(cycles(core, {{"ldr", "r0, [r1, r2]"}, {"str", "r0, [r3, #20]"}}), 3) << core;
    EXPECT_EQ(cycles(core, {{"ldr", "r0, [r1, r2]"}, {"str", "r1, [r3, r2]"}}), 3) << core;
    EXPECT_EQ(cycles(core, {{"ldr", "r0, [r1, r5]"}, {"ldr", "r1, [r2]"}, {"ldr", "r2, [r3, #4]"}}),
              4)
        << core;
    EXPECT_EQ(cycles(core, {{"ldr", "r0, [r1]"}, {"ldr", "r2, [r0]"}}), 4)
        << "an address that was loaded";
    EXPECT_EQ(cycles(core, {{"add", "r1, r2, r3"}, {"ldr", "r0, [r1]"}}), 4)
        << "an address that was just made";
    EXPECT_EQ(cycles(core, {{"ldmia", "r0!, {r1-r4}"}}), 5) << core;
    EXPECT_EQ(cycles(core, {{"ldrd", "r0, r1, [r2]"}}), 3) << core;
    EXPECT_EQ(cycles(core, {{"str", "r0, [r1, r2]"}}), 2 - 1)
        << "the first instruction is behind nothing";
    EXPECT_EQ(cycles(core, {{"mov", "r0, r5"}, {"str", "r0, [r1, r2]"}}), 3) << core;
  }
}

TEST_F(Sequences, DifferBetweenCores) {
  const std::vector<Line> product = {{"smlal", "r0, r1, r2, r3"}};
  EXPECT_EQ(cycles("cortex-m3", product, OPTIMISTIC), 4);
  EXPECT_EQ(cycles("cortex-m3", product, PESSIMISTIC), 7);
  EXPECT_EQ(cycles("cortex-m4", product), 1);
  EXPECT_EQ(cycles("cortex-m0", {{"str", "r0, [r1, #4]", 2}, {"ldr", "r0, [r1, #4]", 2}}), 4);
  EXPECT_EQ(cycles("cortex-m0", {{"ldmia", "r0!, {r1, r2, r3}", 2}}), 4);
  // Two of the M7 at a time, if they need nothing of each other; a load and a sum, or two sums.
  EXPECT_EQ(cycles("cortex-m7", {{"add", "r0, r1, r2"},
                                 {"add", "r3, r4, r5"},
                                 {"add", "r6, r7, r8"},
                                 {"add", "r1, r1, r2"}}),
            2);
  EXPECT_EQ(cycles("cortex-m7", {{"add", "r0, r1, r2"}, {"add", "r3, r0, r5"}}), 2);
  EXPECT_EQ(cycles("cortex-m7", {{"smlad", "r0, r1, r2, r0"}, {"smlad", "r3, r1, r2, r3"}}), 2)
      << "one multiplier";
  EXPECT_EQ(cycles("cortex-m7", {{"smlad", "r0, r1, r2, r0"}, {"ldr", "r3, [r4]"}}), 1);
  // A chain of sums is forwarded; another use of a product waits.
  EXPECT_EQ(cycles("cortex-m7", {{"smlad", "r0, r1, r2, r0"}, {"smlad", "r0, r3, r4, r0"}}), 2);
  EXPECT_EQ(cycles("cortex-m7", {{"smlad", "r0, r1, r2, r0"}, {"add", "r5, r0, r4"}}), 3);
}

TEST_F(Sequences, OfVectorsOverlapInDifferentPipes) {
  const char* m55 = "cortex-m55";
  // LLVM's example: load, integer, product and store overlap; two loads do not.
  const std::vector<Line> mixed = {
      {"vldrw.u32", "q0, [r0]"}, {"vadd.i32", "q1, q2, q3"}, {"vmul.i32", "q4, q5, q6"}};
  EXPECT_EQ(cycles(m55, mixed), 3);
  EXPECT_EQ(
      cycles(m55,
             {{"vldrw.u32", "q0, [r0]"}, {"vldrw.u32", "q1, [r1]"}, {"vadd.i32", "q2, q3, q4"}}),
      4);
  EXPECT_EQ(cycles(m55, mixed, PESSIMISTIC), 6);
  // Sums across vectors follow each other by their beats, and the sum is late for anything else.
  EXPECT_EQ(cycles(m55, {{"vmlava.s8", "r0, q0, q1"}, {"vmlava.s8", "r0, q2, q3"}}), 3);
  EXPECT_EQ(cycles(m55, {{"vmlava.s8", "r0, q0, q1"}, {"add.w", "r1, r0, r2"}}), 4);
  EXPECT_EQ(cycles(m55, {{"vqmovnb.s32", "q0, q1"}, {"vqmovnt.s32", "q0, q2"}}), 4);
}

}  // namespace
}  // namespace intarsia::board
