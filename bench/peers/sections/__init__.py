"""One module for each question: NAME, PEERS whose figures it has, HEADINGS of its table, and `make(machine, options)`, which
returns (rows, lines behind the table). TIMED: its figures are times, which no check compares."""
from . import accepted, compile_time, cortex_m, ethos_u, firmware, memory, operators, results, tools, torch_programs, tvm_parts

ALL = [tools, results, memory, cortex_m, firmware, ethos_u, compile_time, accepted, operators, tvm_parts, torch_programs]
