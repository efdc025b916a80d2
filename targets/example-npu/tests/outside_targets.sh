#!/usr/bin/env bash
# Follows docs/adding-a-target.md: writes the files it shows, applies the change it makes, runs the commands it gives, and
# looks at what a compiler built with targets from outside of the repository says.
# Usage: outside_targets.sh write <repository> <folder>           the targets; files that do not change keep their dates
#        outside_targets.sh try <repository> <folder> <programs>  what the page tries, with the program in that folder
#        outside_targets.sh build <repository> <folder>           all of the page, with its own commands to build
set -euo pipefail
what="$1"
export INTARSIA="$2"
page="$INTARSIA/docs/adding-a-target.md"
mkdir -p "$3"
cd "$3"

# block <language> <name>: the page's block that begins with ```language name
block() {
  awk -v opening="\`\`\`$1 $2" '$0 == opening {inside = 1; found = 1; next} inside && $0 == "```" {exit}
    inside {print} END {if (!found) exit 1}' "$page" || { echo "$page has no block '$1 $2'" >&2; exit 1; }
}
# follow <names>: runs the page's commands under these names, each shown, and stops at the first that fails.
follow() {
  local commands="" name
  for name in "$@"; do commands+=$(block sh "$name")$'\n'; done
  bash -euxo pipefail -c "$commands" 2>&1
}

write() {
  rm -rf new
  mkdir -p new/my-core/compiler
  cd new
  block cmake my-core/CMakeLists.txt >my-core/CMakeLists.txt
  block cpp my-core/compiler/my_core_kind.cpp >my-core/compiler/my_core_kind.cpp
  block text larger.graph >larger.graph
  follow copy
  # By git, which is there where patch may not be; the ceiling keeps it from looking for a repository around the folder.
  block diff my-npu | GIT_CEILING_DIRECTORIES="$PWD" git -C my-npu apply -p1
  cd ..
  { find my-core my-npu -type f 2>/dev/null || true; } | while read -r file; do
    if [[ ! -e "new/$file" ]]; then rm "$file"; fi
  done
  find new -type f -printf '%P\n' | while read -r file; do
    mkdir -p "$(dirname "$file")"
    cmp -s "new/$file" "$file" || cp -p "new/$file" "$file"
  done
  rm -rf new
}

expect() {
  grep -qF -- "$1" tried.txt || { echo "it does not say '$1':"; cat tried.txt; exit 1; }
}
try() {
  follow "$@" try >tried.txt || { cat tried.txt; exit 1; }
  cat tried.txt
  expect "my-chip"
  expect "my-npu-16"
  expect " on my-npu"
  expect " on my-core"
  expect "reference, generated C on this machine and the compiled model in this process agree"
  expect "rows of 16 weights are longer than -max-inputs 8"
}

case "$what" in
  write) write ;;
  try) PATH="$4:$PATH" try ;;
  build)
    # As in scripts/build, whose build folder lies as deep as the page's: what that compiled need not be compiled again.
    export CCACHE_BASEDIR="$INTARSIA" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
    write
    follow build
    try path
    ;;
esac
