"""The reference of the public C and C++ headers: their list, what Doxygen finds in them, and a page for each."""
import collections
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import header_comments

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

# What docs/versioning.md calls public: a folder that is on the path of includes, and its headers below.
GROUPS = (
    ("embedding", "Embedding the compiler", "host-compiler/include", "intarsia/*.h",
     "What a program includes that has the compiler inside. The libraries are those of "
     "[examples/embedding](../examples/embedding/README.md)."),
    ("graph", "The graph of a model", "host-compiler/include", "intarsia/graph/*.h",
     "What `intarsia/graph.h` is made of."),
    ("plugin", "Writing a target", "host-compiler/include", "intarsia/plugin/*.h",
     "What a target includes; [adding a target](../docs/adding-a-target.md) goes through it."),
    ("npu", "The kit for NPUs", "host-compiler/npu-kit/include", "intarsia/npu/*.h",
     "What schedulers of NPUs share; [adding an NPU](../docs/adding-an-npu.md) uses it."),
    ("gpu", "The kit for GPUs", "host-compiler/gpu-kit/include", "intarsia/gpu/*.h",
     "From the loops of the portable lowering to kernels in a dialect of C; [NVIDIA GPUs](../docs/cuda.md) are built on it."),
    ("layers", "The kit for libraries of layers", "host-compiler/layer-kit/include", "intarsia/layers/*.h",
     "Operators as calls of a library of kernels; [oneDNN](../docs/dnnl.md) is built on it."),
    ("contract", "On the device", "device-runtime/contract/include", "intarsia/contract/*.h",
     "The interface in C between an application, the generated sources, drivers, and the runtime."),
)

DOXYFILE = """
PROJECT_NAME           = Intarsia
OUTPUT_DIRECTORY       = "{output}"
INPUT                  = {inputs}
INPUT_FILTER           = "\\"{python}\\" \\"{filter}\\""
STRIP_FROM_PATH        = {roots}
INCLUDE_PATH           = {roots}
FULL_PATH_NAMES        = YES
GENERATE_HTML          = NO
GENERATE_LATEX         = NO
GENERATE_XML           = YES
XML_PROGRAMLISTING     = NO
EXTRACT_ALL            = YES
EXTRACT_STATIC         = YES
EXTRACT_PRIVATE        = NO
HIDE_FRIEND_COMPOUNDS  = YES
SORT_MEMBER_DOCS       = NO
ENABLE_PREPROCESSING   = YES
MACRO_EXPANSION        = YES
EXPAND_ONLY_PREDEF     = NO
SEARCH_INCLUDES        = YES
AUTOLINK_SUPPORT       = YES
MARKDOWN_SUPPORT       = YES
TOC_INCLUDE_HEADINGS   = 0
QUIET                  = YES
WARNINGS               = YES
WARN_IF_UNDOCUMENTED   = NO
WARN_IF_DOC_ERROR      = YES
"""


def public_headers():
    """(group, path of the folder of includes, path as it is included), in the order of the pages."""
    return [(group[0], group[2], header.relative_to(REPOSITORY / group[2]).as_posix())
            for group in GROUPS for header in sorted((REPOSITORY / group[2]).glob(group[3]))]


def page_of(included):
    """The page of a header, without its ending: `intarsia/plugin/tir.h` is at `reference/cpp/plugin/tir.h`."""
    return "reference/cpp/" + included.removeprefix("intarsia/")


def run_doxygen(output):
    """Doxygen's XML of all public headers, below a folder; what it warned of."""
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    headers = public_headers()
    quoted = lambda paths: " ".join(f'"{path}"' for path in paths)
    settings = DOXYFILE.format(
        output=output, python=sys.executable, filter=pathlib.Path(__file__).with_name("header_comments.py"),
        inputs=quoted(REPOSITORY / root / header for _, root, header in headers),
        roots=quoted(REPOSITORY / group[2] for group in GROUPS))
    doxyfile = output / "Doxyfile"
    doxyfile.write_text(settings)
    done = subprocess.run(["doxygen", str(doxyfile)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"doxygen ends with {done.returncode}:\n{done.stderr}")
    return [line for line in done.stderr.splitlines() if "warning:" in line or "error:" in line]


class Entity:
    """A type, function, macro or constant at the outer level of a header."""

    def __init__(self, kind, name, line, documented, parameters=""):
        self.kind, self.name, self.line, self.documented, self.parameters = kind, name, line, documented, parameters

    def directive(self):
        """The directive of Breathe that shows it."""
        lines = [f"```{{doxygen{self.kind}}} {self.name}{self.parameters}"]
        if self.kind in ("struct", "class"):
            lines += [":members:", ":undoc-members:"]
        return "\n".join(lines + ["```"])


MEMBERS = ("function", "typedef", "enum", "variable", "define")


def header_text(member):
    included = member.find("location").get("file")
    return next((REPOSITORY / root / header).read_text(encoding="utf-8") for _, root, header in public_headers() if header == included)


def has_text(node):
    return any(text.strip() for part in ("briefdescription", "detaileddescription") for text in node.find(part).itertext())


def entities_by_header(xml):
    """What the headers declare at their outer level, in their order, by header as it is included."""
    found = {}
    entries = ElementTree.parse(xml / "index.xml").getroot().findall("compound")
    types = {entry.find("name").text for entry in entries if entry.get("kind") in ("struct", "class", "union")}
    for entry in entries:
        kind, name = entry.get("kind"), entry.find("name").text
        if kind not in ("file", "namespace", "struct", "class", "union"):
            continue
        definition = ElementTree.parse(xml / f"{entry.get('refid')}.xml").getroot().find("compounddef")
        if kind not in ("file", "namespace"):
            location = definition.find("location")
            if name.rpartition("::")[0] not in types:  # else it is a member of another type
                found.setdefault(location.get("file"), []).append(
                    Entity(kind, name, int(location.get("line")), has_text(definition)))
            continue
        for member in definition.iter("memberdef"):
            name = (member.find("qualifiedname") if kind == "namespace" else member.find("name")).text
            is_helper = member.get("kind") == "define" and name not in header_comments.macros_of(header_text(member))
            is_guide = member.get("kind") == "function" and name in types  # how a template's arguments are deduced
            if member.get("kind") not in MEMBERS or is_helper or is_guide:
                continue
            parameters = "".join(member.find("argsstring").itertext()) if member.get("kind") == "function" else ""
            location = member.find("location")
            found.setdefault(location.get("file"), []).append(
                Entity(member.get("kind"), name, int(location.get("line")), has_text(member), parameters))
    functions = collections.Counter(entity.name for entities in found.values() for entity in entities)
    for entities in found.values():
        entities.sort(key=lambda entity: entity.line)
        for entity in entities:
            if functions[entity.name] == 1:
                entity.parameters = ""  # the name says which one
    return found


def write_pages(source, xml):
    """The pages of all public headers below the folder of Sphinx's sources, and the page that leads to them."""
    entities = entities_by_header(xml)
    contents = ["# C++ and C", "",
                "What the headers declare that [versions](../docs/versioning.md) calls public, with their comments.", ""]
    for group, title, root, _, summary in GROUPS:
        headers = [included for its, _, included in public_headers() if its == group]
        folder = "" if group == "embedding" else group + "/"
        contents += [f"## {title}", "", summary, "", "| header | what it is |", "|---|---|"]
        for included in headers:
            about = header_comments.Filter((REPOSITORY / root / included).read_text()).about_of_file()
            contents.append(f"| [{included}](cpp/{included.removeprefix('intarsia/')}.md) | {first_sentence(about)} |")
            write_page(source, included, about, entities.get(included, []))
        contents += ["", "```{toctree}", ":hidden:", ""] + [f"cpp/{folder}{pathlib.Path(header).name}" for header in headers]
        contents += ["```", ""]
    (source / "reference" / "cpp.md").write_text("\n".join(contents))


def first_sentence(about):
    """What a header is, for a table: without the word in front of a colon that only repeats its name."""
    paragraph = " ".join(itertools.takewhile(str.strip, about))
    sentence = re.split(r"(?<=[^.])\.(?=\s|$)", paragraph)[0]
    _, colon, rest = sentence.partition(": ")
    shown = rest[:1].upper() + rest[1:] if colon and len(sentence.split(": ")[0].split()) == 1 else sentence
    return shown.replace("|", "\\|").replace("<", "&lt;")


def write_page(source, included, about, entities):
    page = source / f"{page_of(included)}.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    text = [f"# {included}", "", *header_comments.as_markdown(about), "", "```cpp", f'#include "{included}"', "```", ""]
    for entity in entities:
        text += [entity.directive(), ""]
    page.write_text("\n".join(text))
