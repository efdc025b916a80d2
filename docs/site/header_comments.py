#!/usr/bin/env python3
"""Prints a public header with its comments as Doxygen reads them: Doxygen's INPUT_FILTER.

    header_comments.py FILE

The headers have plain comments. What they are about follows from where they stand, as a reader takes it:

    the first comment of the file                the file; so is each comment at the outer level that a blank line follows
    a comment in front of a declaration          the declaration, and overloads that follow without a blank line
    a comment that a blank line follows,         the declarations behind it; it becomes the first paragraph of the next one's
      in a class
    a comment behind a declaration, on its line  the declaration: every name, where it declares several
    a comment in the body of a function          nothing that is shown
"""
import pathlib
import re
import sys

BLANK, COMMENT, CODE = range(3)
TYPE_WORDS = re.compile(r'^(template\s*<.*>\s*)?(typedef\s+)?((struct|class|enum|union|namespace)\b|extern\s+"")')
# A type, and several names with their initial values: `int64_t begin = 0, end = 0;`
SEVERAL_NAMES = re.compile(r"^(\s*)((?:const\s+)?[\w:]+(?:<.*>)?)\s+(\w+(?:\s=\s[^,;(){}]+)?(?:,\s+\w+(?:\s=\s[^,;(){}]+)?)+);$")
RULE = re.compile(r"^-{2,}.*-{2,}$")


class Line:
    """A line of a header: its code, its comment, and whether it begins within the body of a function."""

    def __init__(self, code, comment, in_body, column):
        self.code, self.comment, self.in_body, self.column = code, comment, in_body, column

    @property
    def kind(self):
        return CODE if self.code.strip() else COMMENT if self.comment is not None else BLANK


def comments_of(text):
    """The text with each comment as `//` comments of single lines, so that C and C++ headers are read alike."""
    def single_lines(match):
        if match.group(0).startswith(('"', "'", "//")):
            return match.group(0)
        indent = " " * (match.start() - text.rfind("\n", 0, match.start()) - 1)
        lines = [re.sub(r"^\s*\* ?", "", line) if index else line.lstrip() for index, line in
                 enumerate(match.group(1).split("\n"))]
        return "// " + ("\n" + indent + "// ").join(line.rstrip() for line in lines)
    return re.sub(r'/\*(.*?)\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', single_lines, text, flags=re.DOTALL)


def lines_of(text):
    """The lines of a header, with the scopes of functions found by their braces."""
    lines, scopes, statement, in_directive = [], [], "", False
    for line in comments_of(text).split("\n"):
        in_body = "body" in scopes
        code, comment, column = line, None, 0
        for match in re.finditer(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//', line):
            if match.group(0) == "//":
                code, comment, column = line[:match.start()].rstrip(), line[match.end():], match.start()
                break
        lines.append(Line(code, comment[1:] if comment and comment.startswith(" ") else comment, in_body, column))
        in_directive = in_directive and lines[-2].code.endswith("\\") or code.lstrip().startswith("#")
        if in_directive:
            lines[-1].in_body = in_body or not code.lstrip().startswith("#")
            continue
        bare = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', '""', code)
        for character in bare:
            if character == "{":
                is_type = TYPE_WORDS.match(statement.strip()) and not statement.strip().endswith(")")
                scopes.append("type" if is_type else "body")
                statement = ""
            elif character == "}":
                if scopes:
                    scopes.pop()
                statement = ""
            elif character == ";":
                statement = ""
            else:
                statement += character
        statement = re.sub(r"^\s*(public|private|protected):", "", statement + " ")
    return joined(lines)


def joined(lines):
    """With declarations of several names on one line, where the layout has put them on several."""
    found = []
    for line in lines:
        before = found[-1] if found else None
        if before and not before.in_body and before.comment is None and before.code.endswith(",") and \
                "(" not in before.code and line.code.endswith(";") and re.match(r"\s*[\w:]+(<.*>)?\s+\w", before.code):
            found[-1] = Line(before.code + " " + line.code.strip(), line.comment, line.in_body, line.column)
        else:
            found.append(line)
    return found


def escape_outside_code(line, markup):
    """A line with a backslash in front of what `markup` finds outside of `code`; the sign of a list's item stays."""
    item, rest = re.match(r"(\s*[*-] )?(.*)", line, re.DOTALL).groups()
    pieces = re.split(r"(`[^`]+`)", rest)
    return (item or "") + "".join(piece if index % 2 else re.sub(markup, r"\\\g<0>", piece) for index, piece in enumerate(pieces))


def escaped(line):
    """A line of a comment for Doxygen: what is markup to it alone is taken as it is written."""
    return escape_outside_code(line, r"[\\@<>&#%$*|~\[\]]|(?<!\w)::")


def documentation(comment_lines, escape=escaped, begin="@verbatim", ending="@endverbatim"):
    """The lines of a comment as Doxygen's. Lines that are set in, behind an empty one, are an example."""
    found, example, blank = [], False, True
    for line in comment_lines:
        inset = line.startswith("  ") and line.strip() != ""
        if inset and (blank or example):
            if not example:
                found.append(begin)
            example = True
            found.append(line)
        else:
            if example and line.strip():
                found.append(ending)
                example = False
            found.append(line if example else escape(line))
        blank = not line.strip()
    if example:
        found.append(ending)
    return found


def as_markdown(comment_lines):
    """The lines of a comment as Markdown of a page."""
    return documentation(comment_lines, lambda line: escape_outside_code(line, r"[\\<>*_\[\]#]"), "```text", "```")


def macros_of(text):
    """The macros that a header leaves defined for others: no guards, no helpers that end with `_`."""
    defined = re.findall(r"^# *define +(\w+)", text, re.MULTILINE)
    undefined = re.findall(r"^# *undef +(\w+)", text, re.MULTILINE)
    return [name for name in defined if name not in undefined and not name.endswith(("_H", "_"))]


def declared_names(text):
    """What a header visibly declares at its outer level, by its layout alone: types, functions and macros."""
    types = re.findall(r"^(?:typedef )?(?:struct|class|union|enum(?: class)?) (?:\[\[\w+\]\] )?(\w+)[^;(]*\{", text, re.MULTILINE)
    functions = re.findall(r"^(?!using|typedef|namespace|template|return|#|//|/\*| |\})[\w:<>,&*\[\] ]+[ &*](\w+)\(", text, re.MULTILINE)
    return sorted(set(types + functions + macros_of(text)))


def expanded(parameters, body, entry):
    """What the preprocessor makes of an entry of a list, `NAME(argument, "text", ...)`, for a macro of that name."""
    arguments = [argument.strip() for argument in re.findall(r'"[^"]*"|[^,"]+', entry[entry.index("(") + 1:-1]) if argument.strip()]
    values = dict(zip(parameters, arguments))
    return re.sub(r"\b\w+\b", lambda word: values.get(word.group(0), word.group(0)), body.replace("##", "\0")).replace("\0", "")


def with_lists(text, folders):
    """A header with the lists that it includes within declarations in their places, expanded: Doxygen does not put them there. A
    sentence that an entry of a list ends with is its comment."""
    def content(match):
        path = next((folder / match.group(4) for folder in folders if (folder / match.group(4)).is_file()), None)
        if path is None:
            return match.group(0)
        parameters = [name.strip() for name in match.group(2).split(",")]
        lines = []
        for entry in re.findall(rf"^{match.group(1)}\(.*\)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            sentence = re.search(r', "([^"]*)"\)$', entry)
            lines.append(expanded(parameters, match.group(3), entry) + (f"  // {sentence.group(1)}" if sentence else ""))
        return "\n".join(lines)
    return re.sub(r'^#define (\w+)\(([^)]*)\) (.*)\n#include "([^"]+\.def)"\n#undef \1$', content, text, flags=re.MULTILINE)


def function_name(code):
    match = re.match(r"^[^(=]*?((?:operator\s*\S+?)|[\w~]+)\s*\(", code)
    return match.group(1) if match else None


class Filter:
    def __init__(self, text):
        self.lines = lines_of(text)
        self.about_file, self.out = [], []
        self.waiting = []  # paragraphs of a class, for the next declaration
        self.last_documented = (None, [])  # a function's name and its comment, for overloads

    def block(self, begin):
        """The end of the comment that begins at a line."""
        end = begin
        while end < len(self.lines) and self.lines[end].kind == COMMENT:
            end += 1
        return end

    def put(self, comment, indent):
        self.out += [f"{indent}/// {line}".rstrip() for line in documentation(comment)]

    def comment(self, begin):
        """A comment on lines of its own; where the lines behind it are."""
        end = self.block(begin)
        lines = [line.comment.rstrip() for line in self.lines[begin:end]]
        if self.lines[begin].in_body:
            return end
        detached = end == len(self.lines) or self.lines[end].kind == BLANK
        first = not any(line.code.strip() for line in self.lines[:begin])
        lines = [line for line in lines if not RULE.match(line)]
        if not lines:
            return end
        if self.lines[begin].column == 0 and (detached or first):
            self.about_file += [""] * bool(self.about_file) + lines
        elif detached:
            self.waiting += lines + [""]
        else:
            following = self.lines[end].code
            self.put(self.waiting + lines, " " * self.lines[begin].column)
            self.last_documented = (function_name(following), self.waiting + lines)
            self.waiting = []
        return end

    def code(self, at):
        """A line of code, with the comment behind it; where the lines behind it are."""
        line = self.lines[at]
        end = at + 1
        if line.in_body or line.code.lstrip().startswith("#") and line.comment is None:
            self.out.append(line.code)
            return end
        comment = None if line.comment is None else [line.comment.rstrip()]
        while comment and end < len(self.lines) and self.lines[end].kind == COMMENT and self.lines[end].column == line.column:
            comment.append(self.lines[end].comment.rstrip())
            end += 1
        name = function_name(line.code)
        previous = self.lines[at - 1].kind if at else BLANK
        if previous == CODE and name and name == self.last_documented[0] and comment is None:
            self.put(self.last_documented[1], re.match(r"\s*", line.code).group(0))
        elif previous == BLANK:
            self.last_documented = (None, [])
        several = SEVERAL_NAMES.match(line.code)
        declarations = [line.code]
        if several and comment:
            names = re.split(r",\s+", several.group(3))
            declarations = [f"{several.group(1)}{several.group(2)} {each};" for each in names]
        for declaration in declarations:
            if comment is None or declaration.lstrip().startswith("}"):
                self.out.append(declaration)
            elif declaration.rstrip().endswith("{") or declaration.lstrip().startswith("#"):
                self.put(comment, re.match(r"\s*", declaration).group(0))
                self.out.append(declaration)
            else:
                behind = documentation([" ".join(part.strip() for part in comment)])
                self.out.append(f"{declaration}  ///< {behind[0]}")
        return end

    def about_of_file(self):
        """What the header says of itself."""
        self.text()
        return self.about_file

    def text(self):
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            if line.kind == COMMENT:
                at = self.comment(at)
            elif line.kind == CODE:
                at = self.code(at)
            else:
                self.out.append("")
                self.last_documented = (None, [])
                at += 1
        about = ["/// @file"] + [f"/// {line}".rstrip() for line in documentation(self.about_file)]
        return "\n".join(about + [""] + self.out) + "\n"


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    text = path.read_text(encoding="utf-8")
    sys.stdout.write(Filter(with_lists(text, path.parents)).text() if path.suffix == ".h" else text)


if __name__ == "__main__":
    main()
