#!/usr/bin/env bash
# Compiles an example's model, builds its firmware and runs it in QEMU; what the firmware prints is what this prints.
#   common/run.sh FOLDER [options of QEMU]
# INTARSIA_PROGRAM: the program `intarsia`, otherwise that of PATH or of build/release. BUILD: where to build, otherwise
# build/examples of the repository. EXTRA_CFLAGS: further options of the C compiler.
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
make -s INTARSIA="$program" BUILD="$build" EXTRA_CFLAGS="${EXTRA_CFLAGS:-}" >&2
exec qemu-system-arm -M mps2-an386 -display none -monitor none -serial null -chardev stdio,id=console \
  -semihosting-config enable=on,target=native,chardev=console "$@" -kernel "$build/firmware.elf" </dev/null
