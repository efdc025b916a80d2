#include <algorithm>
#include <charconv>

#include "cuda_kind.h"
#include "ptx.h"

namespace intarsia::targets::cuda {
namespace {

constexpr size_t kConstantAlignment = 16;  // of the widest vector a kernel may load

static_assert(kLaunchWords == gpu::kLaunchHeaderWords);

// "sm_75"
uint32_t arch_of(const Target& device) {
  const std::string& name = device.get_string("arch");
  uint32_t number = 0;
  std::from_chars(name.data() + name.find('_') + 1, name.data() + name.size(), number);
  return number;
}

uint32_t constants_region(const CommandStream& stream) {
  const auto found = std::find_if(
      stream.regions.begin(), stream.regions.end(),
      [](const StreamRegion& region) { return region.kind == StreamRegion::Kind::Constants; });
  return found == stream.regions.end() ? static_cast<uint32_t>(kNoRegion)
                                       : static_cast<uint32_t>(found - stream.regions.begin());
}

void append(const std::vector<Copy>& copies, std::vector<uint32_t>& words) {
  for (const Copy& copy : copies)
    words.insert(words.end(),
                 {static_cast<uint32_t>(copy.region), static_cast<uint32_t>(copy.offset),
                  static_cast<uint32_t>(copy.bytes)});
}

Result<CommandStream> stream_of(const Target& device, const tir::Module& module, const Plan& plan,
                                const tir::Func& func) {
  gpu::Launches launches =
      gpu::launches_of(dialect(), device, module, plan, func, kConstantAlignment);
  for (size_t at = 0; at < launches.words.size();
       at += kLaunchWords + 2 * launches.words[at + kArgumentCountWord]) {
    int64_t items = 1;
    for (const int64_t extent : {kItemsXWord, kItemsYWord, kItemsZWord})
      items *= launches.words[at + static_cast<size_t>(extent)];
    // Each writes elements of its own, and offsets in a region have 32 bits.
    INTARSIA_CHECK(items <= INT32_MAX, "work items are numbered with 31 bits");
  }
  const Transfers transfers = transfers_of(module, func, launches);
  std::vector<uint32_t> words(kHeaderWords);
  words[kMagicWord] = static_cast<uint32_t>(kMagic);
  words[kVersionWord] = static_cast<uint32_t>(kVersion);
  words[kRegionCountWord] = static_cast<uint32_t>(launches.region_bytes.size());
  words[kConstantsWord] = constants_region(launches.stream);
  words[kCopyInCountWord] = static_cast<uint32_t>(transfers.in.size());
  words[kCopyOutCountWord] = static_cast<uint32_t>(transfers.out.size());
  words[kLaunchCountWord] = static_cast<uint32_t>(launches.uses.size());
  const bool is_ptx = device.get_string("code") == "ptx";
  if (is_ptx) {
    // Without the zero byte, and with one.
    INTARSIA_TRY(
        const std::string ptx,
        ptx_of(reinterpret_cast<const char*>(launches.source.data()), device.get_string("arch")));
    launches.source.assign(ptx.c_str(), ptx.c_str() + ptx.size() + 1);
  }
  words[kFormWord] = static_cast<uint32_t>(is_ptx ? kPtxForm : kSourceForm);
  words[kArchWord] = arch_of(device);
  words[kThreadsWord] = static_cast<uint32_t>(device.get_int("threads-per-block"));
  words[kProgramBytesWord] = static_cast<uint32_t>(launches.source.size());
  for (const int64_t bytes : launches.region_bytes) words.push_back(static_cast<uint32_t>(bytes));
  append(transfers.in, words);
  append(transfers.out, words);
  words.insert(words.end(), launches.words.begin(), launches.words.end());
  words[kProgramWord] = static_cast<uint32_t>(4 * words.size());
  CommandStream stream = std::move(launches.stream);
  gpu::append_words(words, stream.commands);
  stream.commands.insert(stream.commands.end(), launches.source.begin(), launches.source.end());
  return stream;
}

}  // namespace

Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan) {
  return gpu::make_streams(
      device, module, plan, static_cast<size_t>(kMaxRegions),
      [&](const tir::Func& func) { return stream_of(device, module, plan, func); });
}

}  // namespace intarsia::targets::cuda
