#!/usr/bin/env bash
# Compiles an example's model, builds its firmware and runs it in QEMU; what the firmware prints is what this prints.
#   common/run.sh FOLDER [options of QEMU]
# INTARSIA_PROGRAM: the program `intarsia`, otherwise that of PATH or of build/release. BUILD: where to build, otherwise
# build/examples of the repository. EXTRA_CFLAGS: further options of the C compiler. BOARDS: the folder boards/ of Intarsia,
# for examples with an NPU, otherwise that beside examples/.
set -euo pipefail
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(cd "$1" && pwd)
shift
program=${INTARSIA_PROGRAM:-$(command -v intarsia || true)}
program=${program:-$examples/../build/release/bin/intarsia}
if [[ ! -x $program ]]; then
  echo "$0: no intarsia: build it with ./demo, or say where it is in INTARSIA_PROGRAM" >&2
  exit 1
fi
build=$(realpath -m "${BUILD:-$examples/../build/examples/$(basename "$folder")}")
cd "$folder"
variables=(INTARSIA="$program" BUILD="$build" EXTRA_CFLAGS="${EXTRA_CFLAGS:-}" ${BOARDS:+BOARDS="$BOARDS"}
  ${FREERTOS:+FREERTOS="$FREERTOS"})
make -s -j"$(nproc)" "${variables[@]}" >&2
machine=$(make -s "${variables[@]}" machine)
emulator=(qemu-system-arm -display none -monitor none -serial null -chardev stdio,id=console
  -semihosting-config enable=on,target=native,chardev=console "$@" -kernel "$build/firmware.elf")
if [[ ! -x $build/npu ]]; then exec "${emulator[@]}" -M "$machine" </dev/null; fi

# The simulated NPU is another program, which has the board's DDR memory at the same addresses and starts QEMU.
memory=$(mktemp)
trap 'rm -f "$memory"' EXIT
size=$((2 << 30))
"$build/npu" "$memory" 0x60000000 $size 0xDFFF0000 -- "${emulator[@]}" -M "$machine,memory-backend=ddr" \
  -m $((size >> 20))M -object "memory-backend-file,id=ddr,size=$size,mem-path=$memory,share=on" </dev/null
