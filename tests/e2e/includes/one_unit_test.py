"""Whether the sources of each library compile as one unit: `one_unit_test.py BUILD`.

A build compiles several sources together, as many as fit into a batch. Where a file is added, others come together, and names
of their unnamed namespaces may meet that never met before: whoever adds it would get errors in files that he never touched.
"""
import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

WITHOUT_OPERAND, WITH_OPERAND = {"-MD"}, {"-o", "-c", "-MT", "-MF"}


def front_end(command):
    """The compiler's call without what it reads and writes, and without a cache before it."""
    words = shlex.split(command)
    if "ccache" in words[0]:
        words = words[1:]
    kept, skip = [], False
    for word in words:
        if skip or word in WITHOUT_OPERAND:
            skip = False
        elif word in WITH_OPERAND:
            skip = True
        else:
            kept.append(word)
    return [*kept, "-fsyntax-only", "-fmax-errors=10"]


def main():
    build = pathlib.Path(sys.argv[1])
    libraries = collections.defaultdict(list)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if found := re.search(r"CMakeFiles/(\w+)\.dir/Unity/unity_\d+_cxx\.cxx$", entry["file"]):
            libraries[found[1]].append(entry)
    several = {name: entries for name, entries in libraries.items() if len(entries) > 1}
    if not several:
        raise SystemExit("no library is compiled in batches")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, entries in sorted(several.items()):
            unit = pathlib.Path(folder, f"{name}.cpp")
            unit.write_text("".join(f'#include "{entry["file"]}"\n' for entry in entries))
            done = subprocess.run([*front_end(entries[0]["command"]), str(unit)], cwd=entries[0]["directory"],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                failed += 1
                print(f"{name}: its sources do not compile as one unit; give one of the names that meet another one\n{done.stderr}")
    print(f"{len(several) - failed} of {len(several)} libraries compile as one unit")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
