"""The sources of the site, as Sphinx reads them: the pages of the repository at their paths, and what is made from other files."""
import glob
import json
import pathlib
import re
import shutil
import tomllib

import cpp_reference
import python_reference

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")
LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".c": "c", ".def": "cpp", ".py": "python", ".json": "json", ".cmake": "cmake",
             ".ipynb": "json", ".toml": "toml", ".yml": "yaml"}
LARGEST_SOURCE = 200_000  # bytes of a file that is shown
NOT_EXECUTED = "The results are not shown: this site was built where the package `intarsia` is not."


def navigation():
    """navigation.toml, read, with all patterns replaced by the pages that they stand for, each page once."""
    with open(HERE / "navigation.toml", "rb") as file:
        read = tomllib.load(file)
    lists = [group["pages"] for group in read["group"]] + list(read["below"].values())
    taken = {page for pages in lists for page in pages if "*" not in page}
    for pages in lists:
        found = []
        for pattern in pages:
            new = [page for page in matching(pattern) if page not in taken] if "*" in pattern else [pattern]
            taken.update(new)
            found += new
        pages[:] = found
    return read


def pages_of_navigation():
    read = navigation()
    return [page for pages in [group["pages"] for group in read["group"]] + list(read["below"].values()) for page in pages]


def navigation_problems():
    """Pages that have no place in the navigation, and places without a page."""
    named = pages_of_navigation()
    return [f"{path}: add it to docs/site/navigation.toml" for path in documents() if path.rpartition(".")[0] not in named] + \
        [f"docs/site/navigation.toml: there is no page {page}" for page in named if not page.startswith("reference/") and file_of(page) is None]


def matching(pattern):
    paths = [path for ending in (".md", ".ipynb") for path in glob.glob(pattern + ending, root_dir=REPOSITORY)]
    return sorted(path.rpartition(".")[0] for path in paths)


def documents():
    """What has to be in the navigation beside the pages that are generated: paths below the repository."""
    fixed = [REPOSITORY / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    patterns = ("docs/*.md", "boards/**/README.md", "targets/**/README.md", "examples/**/README.md", "examples/**/*.ipynb")
    found = fixed + [path for pattern in patterns for path in sorted(REPOSITORY.glob(pattern))]
    return [path.relative_to(REPOSITORY).as_posix() for path in found if ".ipynb_checkpoints" not in path.parts]


def file_of(page):
    """The file of the repository that a page is, or None for one that is made."""
    return next((path for ending in (".md", ".ipynb") if (path := REPOSITORY / (page + ending)).is_file()), None)


def linked_paths(text):
    """Targets of the links of a Markdown text that are paths, outside of its blocks."""
    outside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return LINK.findall(outside)


def source_page_of(path):
    """The page that shows a file of the repository."""
    return "sources/" + path.relative_to(REPOSITORY).as_posix()


def write_source_page(source, path):
    """A page with the text of a file, or with what is in a folder."""
    name = path.relative_to(REPOSITORY).as_posix()
    if path.is_dir():
        text, language = "\n".join(sorted(entry.name + "/" * entry.is_dir() for entry in path.iterdir())) + "\n", "text"
    else:
        text = path.read_text(encoding="utf-8")
        first = text.partition("\n")[0]
        script = "python" if "python" in first else "bash" if first.startswith("#!") else "text"
        language = "cmake" if path.name == "CMakeLists.txt" else LANGUAGES.get(path.suffix, script)
    fence = "`" * (3 + max([len(run) for run in re.findall(r"`{3,}", text)] or [0]))
    page = source / f"{source_page_of(path)}.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"---\norphan: true\n---\n# `{name}`\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n")


def may_be_shown(path):
    if path.is_dir():
        return True
    if path.stat().st_size > LARGEST_SOURCE:
        return False
    try:
        path.read_text(encoding="utf-8")
        return True
    except UnicodeDecodeError:
        return False


def copy_with_links(source, path, shows_sources):
    """A page, the pictures that it shows, and pages for the files that it links to."""
    target = source / path.relative_to(REPOSITORY)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    for link in linked_paths(path.read_text(encoding="utf-8")):
        linked = (path.parent / link).resolve()
        if not linked.is_relative_to(REPOSITORY) or not linked.exists():
            continue  # a dead link, which the build reports
        if linked.suffix in (".svg", ".png", ".jpg", ".webp", ".gif"):
            picture = source / linked.relative_to(REPOSITORY)
            picture.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(linked, picture)
        elif shows_sources and linked.suffix != ".md" and may_be_shown(linked):
            write_source_page(source, linked)


def copy_notebook(source, path, executed):
    """A notebook; one that will not be executed says so."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if not executed:
        note = {"cell_type": "markdown", "id": "not-executed", "metadata": {}, "source": f"> {NOT_EXECUTED}"}
        notebook["cells"].insert(1, note)
    target = source / path.relative_to(REPOSITORY)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(notebook), encoding="utf-8")


def introduction():
    """What the README says before its first heading of second order."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    return text.partition("\n## ")[0].partition("\n")[2].strip()


def entry(page, titles):
    """A page in a list of Sphinx."""
    return f"{titles[page]} </{page}>" if page in titles else f"/{page}"


def contents(pages, titles, caption=""):
    """A list of pages that only the navigation shows."""
    return ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "",
            *(entry(page, titles) for page in pages), "```", ""]


def write_index(source, read):
    text = ["# Intarsia", "", introduction(), ""]
    for group in read["group"]:
        text += [f"## {group['title']}", "", group["summary"], ""]
        text += [f"* {{doc}}`{entry(page, read['titles'])}`" for page in group["pages"]]
        text += ["", *contents(group["pages"], read["titles"], group["title"])]
    (source / "index.md").write_text("\n".join(text), encoding="utf-8")


def write_pages_below(source, read):
    for page, below in read["below"].items():
        with open(source / f"{page}.md", "a", encoding="utf-8") as file:
            file.write("\n".join(["", "", *contents(below, read["titles"])]))


def write_source_tree(source, xml, executed, shows_sources):
    """All of it, in a folder that is emptied first. `executed`: notebooks are; `shows_sources`: links to sources have a page."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "reference").mkdir(parents=True)
    read = navigation()
    pages = set(pages_of_navigation()) | {path.rpartition(".")[0] for path in documents()}
    for path in filter(None, map(file_of, sorted(pages))):
        if path.suffix == ".md":
            copy_with_links(source, path, shows_sources)
        else:
            copy_notebook(source, path, executed)
    cpp_reference.write_pages(source, xml)
    python_reference.write_page(source)
    write_pages_below(source, read)
    write_index(source, read)
