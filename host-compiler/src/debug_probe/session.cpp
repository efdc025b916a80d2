#include "debug_probe/session.h"

#include <fmt/format.h>

#include "debug_probe/client.h"
#include "debug_probe/cycle_counter.h"
#include "debug_probe/load.h"

namespace intarsia::debug_probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kVtor = 0xE000ED08;
constexpr uint32_t kThumbState = 1u << 24;  // of the program status register

class ClientMemory : public TargetMemory {
 public:
  explicit ClientMemory(Client& client) : client_(client) {}
  Result<std::vector<uint8_t>> read(uint32_t address, uint32_t bytes) override {
    return client_.read(address, bytes);
  }
  Result<void> write(uint32_t address, std::span<const uint8_t> bytes) override {
    return client_.write(address, bytes);
  }

 private:
  Client& client_;
};

// Where the program stops, from its symbols.
struct Places {
  uint32_t vectors = 0, wait = 0, begin = 0, end = 0;
  std::optional<uint32_t>
      fault;  // none where startup code of the board's own has handlers of its own
};

std::optional<uint32_t> address_of(const board::ElfImage& image, const char* name) {
  const auto found = image.symbols.find(name);
  if (found == image.symbols.end()) return std::nullopt;
  return found->second & ~1u;
}

// Our vector table, or that of startup code of the board's own: the linker script has it in front.
std::optional<uint32_t> vectors_of(const board::ElfImage& image) {
  if (const auto ours = address_of(image, "intarsia_vectors")) return ours;
  for (const board::ElfSection& section : image.sections)
    if (section.name == ".vectors") return section.address;
  return std::nullopt;
}

Result<Places> places_of(const board::ElfImage& image) {
  const auto vectors = vectors_of(image), wait = address_of(image, "intarsia_probe_wait"),
             begin = address_of(image, "intarsia_mark_begin"),
             end = address_of(image, "intarsia_mark_end");
  if (!wait || !begin || !end)
    return Diagnostics("the program", "was not built for a board that a debug probe holds");
  if (!vectors)
    return Diagnostics(
        "the program", "has no vector table to start by",
        "startup code and linker script of the board's own put one into a section .vectors");
  return Places{*vectors, *wait, *begin, *end, address_of(image, "intarsia_fault")};
}

class Session {
 public:
  Session(Link& link, const SessionRequest& request, HostFiles& files)
      : request_(request),
        client_(link, request.limits),
        memory_(client_),
        calls_(files, memory_),
        counter_(request.clock_mhz) {}

  Result<SessionResult> run() {
    INTARSIA_TRY(places_, places_of(request_.image));
    INTARSIA_TRY_VOID(prepare());
    tell("running on the board");
    const Result<void> ended = serve_until_end();
    // The next program is to find the board as this one did.
    client_.remove_breakpoints();
    INTARSIA_TRY_VOID(ended);
    client_.detach();
    result_.console = calls_.console();
    result_.cycles = counter_.cycles();
    result_.cycles_note = counter_.note();
    return std::move(result_);
  }

 private:
  void tell(const char* what) const {
    if (request_.on_progress) request_.on_progress(what);
  }

  Result<void> reset() {
    for (const std::string& command : request_.reset) INTARSIA_TRY_VOID(client_.command(command));
    return {};
  }

  Result<void> prepare() {
    INTARSIA_TRY_VOID(client_.start());
    INTARSIA_TRY_VOID(reset());
    INTARSIA_TRY_VOID(client_.describe());
    tell("loading the board");
    INTARSIA_TRY_VOID(load(client_, request_.image.segments));
    INTARSIA_TRY_VOID(reset());
    INTARSIA_TRY_VOID(start_at_reset_vector());
    INTARSIA_TRY_VOID(counter_.prepare(client_));
    INTARSIA_TRY_VOID(client_.add_breakpoint(places_.wait));
    if (places_.fault) INTARSIA_TRY_VOID(client_.add_breakpoint(*places_.fault));
    if (!counter_.is_usable()) return {};
    INTARSIA_TRY_VOID(client_.add_breakpoint(places_.begin));
    return client_.add_breakpoint(places_.end);
  }

  // What a reset does with the vector table, for a chip that would start elsewhere: from a ROM, or from flash while
  // the program is in RAM. Cores without VTOR ignore the first.
  Result<void> start_at_reset_vector() {
    INTARSIA_TRY_VOID(client_.write_word(kVtor, places_.vectors));
    INTARSIA_TRY(const uint32_t stack, client_.read_word(places_.vectors));
    INTARSIA_TRY(const uint32_t entry, client_.read_word(places_.vectors + 4));
    INTARSIA_TRY_VOID(client_.set_status_register(kThumbState));
    INTARSIA_TRY_VOID(client_.set_register(kSp, stack));
    return client_.set_register(kPc, entry & ~1u);
  }

  Result<void> serve_until_end() {
    std::optional<Clock::time_point> end;
    if (request_.time_limit.count() > 0) end = Clock::now() + request_.time_limit;
    for (;;) {
      INTARSIA_TRY(const Stop stop, client_.resume(end));
      INTARSIA_TRY(const Registers registers, client_.registers());
      const uint32_t pc = registers[kPc] & ~1u;
      if (stop.interrupted) return stopped_at(Ending::TimedOut, stop);
      if (pc == places_.fault) return stopped_at(Ending::Faulted, stop);
      if (pc == places_.wait) {
        INTARSIA_TRY(const uint32_t answer, calls_.serve(registers[0], registers[1]));
        if (calls_.exit_status()) {
          result_.exit_status = *calls_.exit_status();
          return {};
        }
        INTARSIA_TRY_VOID(client_.set_register(0, answer));
      } else if (pc == places_.begin) {
        INTARSIA_TRY_VOID(counter_.begin(client_));
      } else if (pc == places_.end) {
        INTARSIA_TRY_VOID(counter_.end(client_));
      } else {
        return stopped_at(Ending::Stopped, stop);
      }
      // All these functions return at once: so does the host, for no stub then has to step over a breakpoint.
      INTARSIA_TRY_VOID(client_.set_register(kPc, registers[kLr] & ~1u));
    }
  }

  Result<void> stopped_at(Ending ending, const Stop& stop) {
    result_.ending = ending;
    result_.signal = stop.signal;
    INTARSIA_TRY(result_.state, ending == Ending::Faulted
                                    ? state_at_fault(client_, request_.image)
                                    : state_where_stopped(client_, request_.image));
    return {};
  }

  const SessionRequest& request_;
  Client client_;
  ClientMemory memory_;
  CallServer calls_;
  CycleCounter counter_;
  Places places_;
  SessionResult result_;
};

}  // namespace

Result<SessionResult> run_session(Link& link, const SessionRequest& request, HostFiles& files) {
  return Session(link, request, files).run();
}

}  // namespace intarsia::debug_probe
