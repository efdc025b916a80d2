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


def groups():
    """The navigation: (title, summary, pages by their paths without ending), each page once."""
    with open(HERE / "navigation.toml", "rb") as file:
        read = tomllib.load(file)["group"]
    taken, found = set(), []
    named = {page for group in read for page in group["pages"] if "*" not in page}
    for group in read:
        pages = []
        for pattern in group["pages"]:
            for page in matching(pattern) if "*" in pattern else [pattern]:
                if page not in taken and (page == pattern or page not in named):
                    taken.add(page)
                    pages.append(page)
        found.append((group["title"], group["summary"], pages))
    return found


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
        if linked.suffix in (".svg", ".png", ".jpg"):
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


def write_index(source):
    text = ["# Intarsia", "", introduction(), ""]
    for title, summary, pages in groups():
        text += [f"## {title}", "", summary, ""]
        shown = [page for page in pages if page.count("/") < 2 or page.startswith("examples/")]
        text += [f"* {{doc}}`/{page}`" for page in shown]
        text += ["", "```{toctree}", ":hidden:", f":caption: {title}", ""] + [f"/{page}" for page in pages] + ["```", ""]
    (source / "index.md").write_text("\n".join(text), encoding="utf-8")


def write_source_tree(source, xml, executed, shows_sources):
    """All of it, in a folder that is emptied first. `executed`: notebooks are; `shows_sources`: links to sources have a page."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "reference").mkdir(parents=True)
    pages = {page for _, _, group in groups() for page in group} | {path.rpartition(".")[0] for path in documents()}
    for path in filter(None, map(file_of, sorted(pages))):
        if path.suffix == ".md":
            copy_with_links(source, path, shows_sources)
        else:
            copy_notebook(source, path, executed)
    cpp_reference.write_pages(source, xml)
    python_reference.write_page(source)
    write_index(source)
