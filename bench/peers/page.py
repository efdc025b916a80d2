"""The page of the comparison: blocks that the command prints, and text without figures around them.

    <!-- compare_peers NAME: begin -->
    | what | compare_peers NAME printed |
    <!-- compare_peers: end -->
"""
import re

from .tables import cells

BEGIN = re.compile(r"^<!-- compare_peers ([\w-]+): begin -->$")
END = "<!-- compare_peers: end -->"
FENCE = re.compile(r"^```")
# What may have digits outside of the blocks: code, and the places of links.
CODE = re.compile(r"`[^`]*`|\]\([^)]*\)")


class BadPage(Exception):
    pass


def parts(text):
    """(blocks, lines outside): name -> (first line, behind the last line) of its content, and (number, line) of all else."""
    blocks, outside, name, first, fenced = {}, [], None, 0, False
    for number, line in enumerate(text.splitlines()):
        begin = BEGIN.match(line)
        if begin and name:
            raise BadPage(f"line {number + 1}: the block of {name} has no end")
        if begin:
            name, first = begin.group(1), number + 1
            if name in blocks:
                raise BadPage(f"line {number + 1}: there are two blocks of {name}")
        elif line == END:
            if not name:
                raise BadPage(f"line {number + 1}: the end of no block")
            blocks[name], name = (first, number), None
        elif not name:
            fenced ^= bool(FENCE.match(line))
            if not fenced and not FENCE.match(line):
                outside.append((number + 1, line))
    if name:
        raise BadPage(f"the block of {name} has no end")
    return blocks, outside


def block(text, name):
    first, behind = parts(text)[0][name]
    return text.splitlines()[first:behind]


def with_blocks(text, printed):
    """The page with these blocks' lines."""
    blocks, lines = parts(text)[0], text.splitlines()
    for name in sorted(printed, key=lambda name: -blocks[name][0]):
        first, behind = blocks[name]
        lines[first:behind] = printed[name]
    return "\n".join(lines) + "\n"


def rows_of(lines):
    """(headings, rows) of a block's table."""
    found = [cells(line) for line in lines if line.startswith("|")]
    return (found[0], found[2:]) if len(found) > 2 else ([], [])


def problems_of_form(text, sections):
    """What a page says that no run of the command could have printed; needs no peer."""
    try:
        blocks, outside = parts(text)
    except BadPage as problem:
        return [str(problem)]
    found = [f"there is no block of {section.NAME}" for section in sections if section.NAME not in blocks]
    names = {section.NAME for section in sections}
    found += [f"there is no section {name}" for name in blocks if name not in names]
    for section in sections:
        if section.NAME not in blocks:
            continue
        headings, rows = rows_of(block(text, section.NAME))
        if headings != section.HEADINGS:
            found.append(f"{section.NAME}: the headings are {headings}, and the command prints {section.HEADINGS}")
        if not rows:
            found.append(f"{section.NAME}: there are no rows")
        found += [f"{section.NAME}: the row of {row[0]} has {len(row)} cells" for row in rows if len(row) != len(section.HEADINGS)]
    for number, line in outside:
        if re.search(r"\d", CODE.sub("", line)):
            found.append(f"line {number}: a figure outside of what the command prints: {line.strip()}")
    return found
