"""The changes that can be made in a source file: which they are, and how one is put into a program beside others."""
import re

# Each is looked for in a text whose comments and strings are blanked; (pattern, replacements).
REPLACEMENTS = [
    (re.compile(r"(?<=[\w)\]] )<=(?= )"), ["<"]),
    (re.compile(r"(?<=[\w)\]] )>=(?= )"), [">"]),
    (re.compile(r"(?<=[\w)\]] )<(?= )"), ["<="]),
    (re.compile(r"(?<=[\w)\]] )>(?= )"), [">="]),
    (re.compile(r"(?<=[\w)\]] )==(?= )"), ["!="]),
    (re.compile(r"(?<=[\w)\]] )!=(?= )"), ["=="]),
    (re.compile(r"(?<= )&&(?= )"), ["||"]),
    (re.compile(r"(?<= )\|\|(?= )"), ["&&"]),
    (re.compile(r"(?<=[\w)\]] )\+(?= )"), ["-"]),
    (re.compile(r"(?<=[\w)\]] )-(?= )"), ["+"]),
    (re.compile(r"(?<= )\+=(?= )"), ["-="]),
    (re.compile(r"(?<= )-=(?= )"), ["+="]),
    (re.compile(r"(?<=[\w)\]] )\*(?= [\w(])"), ["+"]),
    (re.compile(r"(?<=[\w)\]] )/(?= [\w(])"), ["*"]),
    (re.compile(r"\btrue\b"), ["false"]),
    (re.compile(r"\bfalse\b"), ["true"]),
    (re.compile(r"(?<=[(!&| ])!(?=[\w(])"), [""]),
    (re.compile(r"(?<![\w.'])\d+(?![\w.'])"), None),  # one more
    (re.compile(r"\bstd::max\b"), ["std::min"]),
    (re.compile(r"\bstd::min\b"), ["std::max"]),
]
# A statement on a line of its own that may go: an assignment or a call, no declaration, no return of a value.
STATEMENT = re.compile(r"^\s*(?:(?:if|for|while) \(.*\) )?[\w.\[\]>()*:-]+(?:(?: [+*/|&-]?= ).*|\(.*\));\s*$")
NO_STATEMENT = re.compile(r"^\s*(?:return|using|throw|delete|goto|case|default|static_assert|namespace|template|"
                          r"struct|class|enum|auto|const|constexpr|INTARSIA_TRY)\b")
SKIPPED = re.compile(r"^\s*(?:#|using\b|namespace\b|template\b|static_assert|INTARSIA_CHECK|case\b|//|friend\b)")
CLOSING = {"(": ")", "[": "]", "{": "}"}
# What stands before a brace that opens statements; what may, unless a list of values is around it; before a class.
BODY_BEFORE = re.compile(r"(?:[\])]|\b(?:else|do|const|noexcept|override|mutable|try)|-> [\w:<>*& ]+)$")
BLOCK_BEFORE = re.compile(r"[;{}:]$")
SCOPE_BEFORE = re.compile(r"\b(?:namespace|class|struct|union)\b[^;{}()]*$")


def blanked(text):
    """The text with comments and the insides of strings as spaces, line by line."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', blank, text, flags=re.S)


class Change:
    """Text [begin, end) of a file, on one line, replaced by `new`; a dropped statement is its whole line."""

    def __init__(self, path, text, line, begin, end, new):
        self.path, self.line, self.begin, self.end, self.new = path, line, begin, end, new
        first = text.rfind("\n", 0, begin) + 1
        last = text.find("\n", begin)
        self.old_line = text[first:last]
        self.dropped = not new and begin == first and end == last
        self.new_line = text[first:begin] + new + text[end:last]

    def key(self):
        return f"{self.path}: {self.old_line.strip()} -> {self.new_line.strip() or '(dropped)'}"

    def __str__(self):
        return f"{self.path}:{self.line}: {self.old_line.strip()}  ->  {self.new_line.strip() or '(dropped)'}"


def changes_of(path, text):
    result, at = [], 0
    for number, code in enumerate(blanked(text).split("\n"), 1):
        if code.strip() and not SKIPPED.match(code):
            # Bounds of templates look like comparisons; they have no spaces around, so the patterns leave them.
            for pattern, replacements in REPLACEMENTS:
                for match in pattern.finditer(code):
                    for new in replacements or [str(int(match.group(0)) + 1)]:
                        result.append(Change(path, text, number, at + match.start(), at + match.end(), new))
            if STATEMENT.match(code) and not NO_STATEMENT.match(code) and code.count("(") == code.count(")"):
                result.append(Change(path, text, number, at, at + len(code), ""))
        at += len(code) + 1
    return result


class Guard:
    """Replace [begin, end) by `text`: as it was, and with change `number` where that one holds."""

    def __init__(self, begin, end, text):
        self.begin, self.end, self.text = begin, end, text


def enclosing(code, at):
    """The open brackets around a place, outermost first: (bracket, its position)."""
    stack = []
    for position, letter in enumerate(code[:at]):
        if letter in "([{":
            stack.append((letter, position))
        elif letter in ")]}" and stack:
            stack.pop()
    return stack


def is_block(code, position):
    """Whether the brace there opens statements (or declarations), and not a list of values."""
    before = code[:position].rstrip()[-200:]
    if BODY_BEFORE.search(before) or SCOPE_BEFORE.search(before):
        return True
    around = enclosing(code, position)
    return bool(BLOCK_BEFORE.search(before)) and (
        not around or around[-1][0] == "{" and is_block(code, around[-1][1]))


def split_outside_brackets(code, begin, end, separators):
    """Where pieces of [begin, end) begin and end, cut at the separators that no bracket encloses."""
    pieces, depth, first = [], 0, begin
    for position in range(begin, end):
        letter = code[position]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif depth == 0 and letter in separators:
            pieces.append((first, position))
            first = position + 1
    return pieces + [(first, end)]


def closing_of(code, position):
    depth = 0
    for at in range(position, len(code)):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return -1


def guard_of(text, code, change, number):
    """How the change is put into the file under a condition; None where the place allows none."""
    stack = enclosing(code, change.begin)
    braces = [(b, p) for b, p in stack if b == "{"]
    # Only inside functions: what is computed at compile time cannot wait for the run.
    if not any(is_block(code, p) and not SCOPE_BEFORE.search(code[:p].rstrip()[-200:]) for _, p in braces):
        return None
    bracket, opened = stack[-1]
    condition = f"intarsia_mutated({number})"
    if change.dropped:
        before = code[:change.begin].rstrip()
        if before[-1:] not in ";{})":
            return None
        return Guard(change.begin, change.end, f"{{ if (!{condition}) {{ {text[change.begin:change.end].strip()} }} }}")

    def changed(begin, end):
        return text[begin:change.begin] + change.new + text[change.end:end]

    def choice(begin, end):
        """A value."""
        piece = code[begin:end]
        assigned = [m.end() for m in re.finditer(r"(?<![=!<>+*/|&-]) =\s", piece)]
        inside = [m for m in assigned if m <= change.begin - begin]
        if inside and code[begin:begin + inside[-1]].count("(") == code[begin:begin + inside[-1]].count(")"):
            begin += inside[-1]
        if re.match(r"\s*(?:auto|const)\b", code[begin:end]) and " : " in code[begin:end]:
            begin += code[begin:end].index(" : ") + 3
        if change.begin < begin or not code[begin:end].strip():
            return None
        while code[begin] in " \n":
            begin += 1
        return Guard(begin, end, f"({condition} ? ({changed(begin, end)}) : ({text[begin:end]}))")

    if bracket != "{" or not is_block(code, opened):
        closing = closing_of(code, opened)
        if closing < 0:
            return None
        for begin, end in split_outside_brackets(code, opened + 1, closing, ",;"):
            if begin <= change.begin and change.end <= end:
                return choice(begin, end)
        return None

    # A statement of a block: from the end of the one before to its semicolon.
    begin = opened + 1
    for first, last in split_outside_brackets(code, opened + 1, closing_of(code, opened), ";"):
        if first <= change.begin < last:
            begin, end = first, last
            break
    else:
        return None
    # Blocks before it in the same piece end where the statement begins.
    depth = 0
    for position in range(begin, change.begin):
        if code[position] in "([{":
            depth += 1
        elif code[position] in ")]}":
            depth -= 1
            if code[position] == "}" and depth == 0 and not re.match(r"\s*[,;.)]", code[position + 1:end + 1]):
                begin = position + 1
    while begin < end and code[begin] in " \n":
        begin += 1
    while match := re.match(r"(?:else )?(?:if|for|while) (?:constexpr )?(?=\()|else ", code[begin:end]):
        begin += match.end()
        if code[begin] == "(":
            begin = closing_of(code, begin) + 1
        while begin < end and code[begin] in " \n":
            begin += 1
    piece = code[begin:end]
    if change.begin < begin or "constexpr" in piece or piece.startswith(("static ", "using ")):
        return None
    if piece.startswith("return") or (STATEMENT.match(piece.replace("\n", " ") + ";") and not NO_STATEMENT.match(piece)):
        return Guard(begin, end + 1, f"{{ if ({condition}) {{ {changed(begin, end)}; }} {text[begin:end]}; }}"
                     if piece.startswith("return") else
                     f"{{ if ({condition}) {{ {changed(begin, end)}; }} else {{ {text[begin:end]}; }} }}")
    return choice(begin, end)
