#!/usr/bin/env bash
# Follows docs/adding-an-operator.md: applies the changes it shows to a copy of the sources, runs the commands it gives, and
# looks at what a compiler with the operator says.
# Usage: new_operator.sh write <repository> <folder>            the copy; files that do not change keep their dates
#        new_operator.sh try <repository> <folder> <programs>   what the page tries, with the program in that folder
set -euo pipefail
what="$1"
repository="$2"
page="$repository/docs/adding-an-operator.md"
mkdir -p "$3"
cd "$3"

# block <language> <name>: the page's block that begins with ```language name
block() {
  awk -v opening="\`\`\`$1 $2" '$0 == opening {inside = 1; found = 1; next} inside && $0 == "```" {exit}
    inside {print} END {if (!found) exit 1}' "$page" || { echo "$page has no block '$1 $2'" >&2; exit 1; }
}

write() {
  rm -rf new
  mkdir -p new/host-compiler/include new/host-compiler/src
  local folder
  cp -r "$repository/host-compiler/include/." new/host-compiler/include
  for folder in graph operators import target_kind; do
    cp -r "$repository/host-compiler/src/$folder" new/host-compiler/src
  done
  # The ceiling keeps git from looking for a repository around the folder.
  for name in kind family importer; do
    block diff "$name" | GIT_CEILING_DIRECTORIES="$PWD" git -C new apply -p1
  done
  find host-compiler -type f 2>/dev/null | while read -r file; do
    if [[ ! -e "new/$file" ]]; then rm "$file"; fi
  done || true
  (cd new && find host-compiler -type f) | while read -r file; do
    mkdir -p "$(dirname "$file")"
    cmp -s "new/$file" "$file" || cp "new/$file" "$file"
  done
  rm -rf new
  block text signs.graph >signs.graph
}

expect() {
  grep -qF -- "$1" tried.txt || { echo "it does not say '$1':"; cat tried.txt; exit 1; }
}
try() {
  bash -euxo pipefail -c "$(block sh try)" >tried.txt 2>&1 || { cat tried.txt; exit 1; }
  cat tried.txt
  expect "last      sign        c  "
  expect "f32[1,16] -> f32[1,16]"
  expect "reference, generated C on this machine and the compiled model in this process agree"
}

case "$what" in
  write) write ;;
  try) PATH="$4:$PATH" try ;;
esac
