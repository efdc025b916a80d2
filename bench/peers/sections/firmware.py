"""What the firmware has to hold and bring: files, heap, C++ runtime, initialisers, by nm and size on the linked objects."""
import re
import subprocess

from ..machine import ROOT
from ..tables import listed

NAME = "firmware"
PEERS = []
HEADINGS = ["model", "target", "source files", "symbols it wants", "of them heap", "of them C++ runtime", "bytes of initialisers",
            "`.data` + `.bss`", "`sizeof` of an instance"]
TARGETS = (("cortex-m4", "mps2-an386"), ("cortex-m55+ethos-u55-128", "mps3-an547"))
HEAP = re.compile(r"^(malloc|calloc|realloc|free|_Zn[wa]|_Zd[la]|_(malloc|free)_r)")
CPP = re.compile(r"^(__cxa_|__gxx_|_ZT[VIS]N10__cxxabiv|_ZSt|__aeabi_atexit)")
MAKEFILE = """CC := arm-none-eabi-gcc
CXX := arm-none-eabi-g++
include {name}/{name}.mk
ALL := $({upper}_SOURCES) $(INTARSIA_RUNTIME_SOURCES)
OBJECTS := $(addsuffix .o,$(ALL))
linked.o: $(OBJECTS)
\tarm-none-eabi-ld -r -o $@ $^
%.c.o: %.c
\t$(CC) -O2 $({upper}_CFLAGS) $({upper}_INCLUDES) -c $< -o $@
%.cpp.o: %.cpp
\t$(CXX) -O2 $({upper}_CXXFLAGS) $({upper}_INCLUDES) -c $< -o $@
instance.o: instance.c
\t$(CC) $({upper}_CFLAGS) $({upper}_INCLUDES) -c $< -o $@
count:
\t@echo $(words $(ALL))
"""


def output(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def sections(folder, file):
    """Bytes by name of section."""
    return [(name, int(size)) for name, size in re.findall(r"^(\.\S+)\s+(\d+)", output("arm-none-eabi-size", "-A", file, cwd=folder), re.M)]


def measure(machine, model, target, board):
    folder, name = machine.folder(), "network"
    machine.json("compile", model.path, "--target", target, "--board", board, "--name", name, "-o", folder / name)
    (folder / "Makefile").write_text(MAKEFILE.format(name=name, upper=name.upper()))
    (folder / "instance.c").write_text(f'#include "{name}.h"\nchar instance[sizeof(struct {name})];\n')
    output("make", "linked.o", "instance.o", cwd=folder)
    wanted = output("arm-none-eabi-nm", "--undefined-only", "--format=just-symbols", "linked.o", cwd=folder).split()
    by_name = sections(folder, "linked.o")
    total = lambda *prefixes: sum(size for section, size in by_name if section.startswith(prefixes))
    instance = re.search(r"\S+ (\S+) \S instance$", output("arm-none-eabi-nm", "-S", "instance.o", cwd=folder), re.M)
    return [int(output("make", "-s", "count", cwd=folder)), listed(sorted(wanted)), sum(bool(HEAP.match(s)) for s in wanted),
            sum(bool(CPP.match(s)) for s in wanted), total(".init_array", ".ctors"), total(".data", ".bss"), int(instance.group(1), 16)]


def make(machine, options):
    if not machine.has_cross_toolchain:
        return [], ["Not measured: there is no arm-none-eabi-gcc or no qemu-system-arm."]
    chosen = [model for model in options.models if ROOT in model.path.parents][:2] or options.models[:1]
    return [[model.name, f"`{target}`", *measure(machine, model, target, board)] for model in chosen for target, board in TARGETS], []
