#!/usr/bin/env bash
# Compiles an example's model, builds its firmware and runs it in QEMU; what the firmware prints is what this prints.
#   common/run.sh FOLDER [options of QEMU]
# INTARSIA_PROGRAM: the program `intarsia`, otherwise that of build/release or of PATH. BUILD: where to build, otherwise
# build/examples of the repository.
set -euo pipefail
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(cd "$1" && pwd)
shift
program=${INTARSIA_PROGRAM:-$examples/../build/release/bin/intarsia}
if [[ ! -x $program ]]; then
  program=$(command -v intarsia) || { echo "$0: no intarsia: build it with ./demo, or set INTARSIA_PROGRAM" >&2; exit 1; }
fi
build=$(realpath -m "${BUILD:-$examples/../build/examples/$(basename "$folder")}")
cd "$folder"
make -s INTARSIA="$program" BUILD="$build" >&2
exec qemu-system-arm -M mps2-an386 -nographic -monitor none -serial null -semihosting-config enable=on,target=native \
  "$@" -kernel "$build/firmware.elf"
