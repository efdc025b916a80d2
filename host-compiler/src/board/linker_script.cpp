// The linker script of a board: its memory map in the linker's language. The stack lies at the
// start of its memory, so that an overflow leaves the memory and faults instead of changing data.
#include <fmt/format.h>

#include <algorithm>

#include "intarsia/board.h"

namespace intarsia::board {
namespace {

std::string memory_block(const Board& board) {
  std::string text = "MEMORY {\n";
  for (const Memory& memory : board.memories) {
    text += fmt::format("  {} ({}) : ORIGIN = {:#010x}, LENGTH = {:#x}\n", memory.name,
                        memory.kind == MemoryKind::Flash ? "rx" : "rwx", memory.base, memory.size);
  }
  return text + "}\n\n";
}

std::string program_sections(const Roles& roles) {
  return fmt::format(R"(  .vectors : {{
    KEEP(*(.intarsia.vectors))
    ASSERT(. > 0, "the startup code is missing: no vector table");
  }} > {code}

  .text : {{
    *(.text .text.*)
  }} > {code}

  .rodata : ALIGN(16) {{
    *(.rodata .rodata.* .srodata .srodata.*)
  }} > {constants}

  /* Objects that say so with INTARSIA_WEIGHTS. */
  .weights : ALIGN(16) {{
    *(.intarsia.weights .intarsia.weights.*)
  }} > {constants}

  /* What devices read: INTARSIA_STREAMS. */
  .streams : ALIGN(16) {{
    *(.intarsia.streams .intarsia.streams.*)
  }} > {streams}

)",
                     fmt::arg("code", roles.code), fmt::arg("constants", roles.constants.front()),
                     fmt::arg("streams", roles.streams));
}

// Constants that the plan puts into other memories than the first of the role.
std::string constants_section(const std::string& memory) {
  return fmt::format(R"(  /* INTARSIA_WEIGHTS_IN_MEMORY({name}) */
  .constants.{name} : ALIGN(16) {{
    *(.intarsia.constants.{name} .intarsia.constants.{name}.*)
  }} > {name}

)",
                     fmt::arg("name", memory));
}

// The largest region (its size is 2 to this power) that ends where the stack begins, overlaps no
// memory and can be a region of the protection unit, which wants its base aligned to its size.
// 0 when there is none of the least size, 32 bytes.
int stack_guard_log2(const Board& board) {
  const uint64_t bottom = board.find_memory(board.roles.stack)->base;
  for (int log2 = 20; log2 >= 5; --log2) {
    const uint64_t size = uint64_t{1} << log2;
    if (bottom < size || bottom % size != 0) continue;
    const bool free = std::none_of(
        board.memories.begin(), board.memories.end(),
        [&](const Memory& memory) { return memory.base < bottom && memory.end() > bottom - size; });
    if (free) return log2;
  }
  return 0;
}

// RISC-V's C library has its errno in thread-local storage, of which there is one block. Such a section takes no place by
// itself.
std::string thread_section(const Board& board) {
  if (!board.is_riscv()) return "";
  return fmt::format(R"(  .tbss (NOLOAD) : ALIGN(16) {{
    *(.tbss .tbss.*)
  }} > {data}
  .thread (NOLOAD) : {{
    . = . + SIZEOF(.tbss);
  }} > {data}
  __intarsia_thread = ADDR(.tbss);

)",
                     fmt::arg("data", board.roles.data));
}

std::string writable_sections(const Board& board) {
  return fmt::format(R"(  /* First in its memory: an overflow leaves the memory and faults. */
  .stack (NOLOAD) : {{
    __intarsia_stack_bottom = .;
    . += {stack_size:#x};
    __intarsia_stack_top = .;
  }} > {stack}
  __intarsia_stack_guard_log2 = {guard_log2};
  __intarsia_stack_guard = __intarsia_stack_bottom - (1 << {guard_log2});

  .data : ALIGN(16) {{
    __intarsia_data_start = .;
    *(.data .data.* .sdata .sdata.*)
    . = ALIGN(4);
    __intarsia_data_end = .;
  }} > {data} AT> {code}
  __intarsia_data_load = LOADADDR(.data);

  .bss (NOLOAD) : ALIGN(16) {{
    __intarsia_bss_start = .;
    *(.bss .bss.* .sbss .sbss.* COMMON)
    . = ALIGN(4);
    __intarsia_bss_end = .;
  }} > {data}

  .noinit (NOLOAD) : ALIGN(4) {{
    *(.noinit .noinit.*)
  }} > {data}

)",
                     fmt::arg("stack_size", board.stack_size),
                     fmt::arg("guard_log2", stack_guard_log2(board)),
                     fmt::arg("stack", board.roles.stack), fmt::arg("data", board.roles.data),
                     fmt::arg("code", board.roles.code));
}

// One section for each memory: what says INTARSIA_IN_MEMORY(name).
std::string pool_section(const Memory& memory, uint64_t alignment) {
  return fmt::format(R"(  .pool.{name}{noload} : ALIGN({alignment}) {{
    __intarsia_{name}_start = .;
    *(.intarsia.{name} .intarsia.{name}.*)
    __intarsia_{name}_end = .;
  }} > {name}

)",
                     fmt::arg("name", memory.name), fmt::arg("alignment", alignment),
                     fmt::arg("noload", memory.kind == MemoryKind::Ram ? " (NOLOAD)" : ""));
}

std::string closing_sections(const Board& board) {
  return fmt::format(R"(  .pool.unknown : {{
    *(.intarsia.*)
  }} > {code}
  ASSERT(SIZEOF(.pool.unknown) == 0, "an object names a memory that board {board} does not have")

  .constructors : {{
    *(.preinit_array .preinit_array.* .init_array .init_array.* .ctors .ctors.*)
  }} > {code}
  ASSERT(SIZEOF(.constructors) == 0, "static initialisers do not run on boards")

  /* Unwinding tables of the compiler's library: nothing here unwinds. */
  /DISCARD/ : {{
    *(.ARM.exidx .ARM.exidx.* .ARM.extab .ARM.extab.* .eh_frame .fini_array .fini_array.*)
  }}
)",
                     fmt::arg("code", board.roles.code), fmt::arg("board", board.name));
}

}  // namespace

std::string linker_script(const Board& board) {
  INTARSIA_CHECK(!board.native(), "a native board is linked by the system's own script");
  std::string text = fmt::format(
      "/* Made by intarsia from boards/{0}/board.json: change that file, not this one. */\n\n"
      "ENTRY(intarsia_reset)\n\n",
      board.name);
  text += memory_block(board);
  text += "SECTIONS {\n";
  text += program_sections(board.roles);
  for (const std::string& name : board.roles.constants)
    if (name != board.roles.constants.front()) text += constants_section(name);
  text += writable_sections(board);
  text += thread_section(board);
  for (const Memory& memory : board.memories)
    text += pool_section(memory, std::max<uint64_t>(16, board.cache_line));
  text += closing_sections(board);
  if (board.takes_simulated_devices())
    text += fmt::format("\n  __intarsia_device_window = {:#x};\n", board.emulator->device_window);
  return text + "}\n";
}

}  // namespace intarsia::board
