#!/usr/bin/env bash
# Follows docs/adding-a-target.md: writes the files it shows, runs the commands it gives, applies the change
# it makes, and looks at what a compiler built with targets from outside of the repository says.
# Usage: outside_targets_test.sh <repository> <work folder>
set -euo pipefail
export INTARSIA="$1"
# As in scripts/build, whose build folder lies as deep as the page's: what that compiled need not be compiled again.
export CCACHE_BASEDIR="$INTARSIA" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
page="$INTARSIA/docs/adding-a-target.md"
rm -rf "$2"
mkdir -p "$2"
cd "$2"

# block <language> <name>: the page's block that begins with ```language name
block() {
  awk -v opening="\`\`\`$1 $2" '$0 == opening {inside = 1; found = 1; next} inside && $0 == "```" {exit}
    inside {print} END {if (!found) exit 1}' "$page" || { echo "$page has no block '$1 $2'" >&2; exit 1; }
}
# follow <name>: runs the page's commands under that name, each shown, and stops at the first that fails.
follow() { bash -euxo pipefail -c "$(block sh "$1")" 2>&1; }
expect() {
  grep -qF -- "$2" "$1" || { echo "$1 does not say '$2':"; cat "$1"; exit 1; }
}

mkdir -p my-core/compiler
block cmake my-core/CMakeLists.txt >my-core/CMakeLists.txt
block cpp my-core/compiler/my_core_kind.cpp >my-core/compiler/my_core_kind.cpp
block text larger.graph >larger.graph
follow copy
# By git, which is there where patch may not be; the ceiling keeps it from looking for a repository around the folder.
block diff my-npu | GIT_CEILING_DIRECTORIES="$PWD" git -C my-npu apply -p1
follow build
follow try >tried.txt || { cat tried.txt; exit 1; }
cat tried.txt
expect tried.txt "my-chip"
expect tried.txt "my-npu-16"
expect tried.txt "runs on my-npu"
expect tried.txt "runs on my-core"
expect tried.txt "reference and generated C on this machine agree"
expect tried.txt "rows of 16 weights are longer than -max-inputs 8"
