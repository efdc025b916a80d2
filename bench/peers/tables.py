"""Tables in Markdown."""


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"]
    for row in rows:
        assert len(row) == len(headings), (headings, row)
        # An absent figure is an empty cell.
        lines.append("| " + " | ".join("" if cell is None else str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |")
    return lines


def cells(line):
    """Of a row, as `table` wrote it."""
    return [cell.strip().replace("\0", "|") for cell in line.replace("\\|", "\0").strip().strip("|").split("|")]


def listed(names, none="none"):
    return ", ".join(names) if names else none


def megabytes(size):
    return f"{size / 1e6:.1f}"


def ratio(theirs, ours):
    return f"{theirs / ours:.2f}" if theirs and ours else None


def where_less(peer, headings, rows, pairs, name):
    """A line for each pair of columns: the rows in which the peer's figure is less than ours, by `name(row)`."""
    lines = []
    for what, theirs, ours in pairs:
        at, other = headings.index(theirs), headings.index(ours)
        known = [row for row in rows if isinstance(row[at], int) and isinstance(row[other], int)]
        if known:
            lines.append(f"* {what}, where {peer} has less: {listed([name(row) for row in known if row[at] < row[other]])}")
    return lines
