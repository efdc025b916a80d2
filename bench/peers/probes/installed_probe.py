"""Which of the distributions that are asked about are installed, and what each needs: {name: {version, distributions, bytes}}."""
import json
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution

EXTRA = re.compile(r"extra\s*==")
# What a distribution imports without saying that it depends on it.
IMPORTED = {"executorch": ["torch"]}


def with_dependencies(name, met):
    """The distributions that come with `name`, by their names in one spelling."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in met:
        return met
    try:
        met[key] = distribution(name)
    except PackageNotFoundError:
        return met  # for another system or version of Python
    for requirement in met[key].requires or []:
        if not EXTRA.search(requirement):
            with_dependencies(re.match(r"[\w.-]+", requirement).group(), met)
    return met


def bytes_of(found):
    total = 0
    for file in found.files or []:
        path = file.locate()
        if path.suffix != ".pyc" and path.is_file():
            total += path.stat().st_size
    return total


answer = {}
for wanted in json.load(sys.stdin):
    try:
        version = distribution(wanted).version
    except PackageNotFoundError:
        continue
    everything = {}
    for name in [wanted, *IMPORTED.get(wanted, [])]:
        with_dependencies(name, everything)
    answer[wanted] = {"version": version, "distributions": len(everything), "bytes": sum(map(bytes_of, everything.values()))}
with open(sys.argv[1], "w", encoding="utf-8") as file_of_answer:
    json.dump(answer, file_of_answer)
