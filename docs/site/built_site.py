#!/usr/bin/env python3
"""Checks a built site: every link resolves, nothing is loaded from another host, and nothing that belongs into it is missing.

    built_site.py FOLDER    the folder of index.html; prints what is wrong, and fails if anything is
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

import cpp_reference
import header_comments
import python_reference
import source_tree

# Attributes by which a page loads something, and those by which a reader goes somewhere.
LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src"), ("iframe", "src"), ("video", "src"), ("audio", "src"),
         ("embed", "src"), ("object", "data"), ("input", "src"), ("image", "href"), ("use", "href"), ("image", "xlink:href"), ("use", "xlink:href")}
GOES = {("a", "href"), ("area", "href"), ("form", "action")}
ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
STYLE_LOADS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(html.parser.HTMLParser):
    """The links, the anchors and the shown names of a page."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.goes, self.anchors, self.in_style, self.styles = [], [], set(), False, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.in_style = tag == "style"
        for name, value in attributes:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            if name == "style":
                self.styles.append(value)
            if name == "srcset":
                self.loads += [part.split()[0] for part in value.split(",") if part.strip()]
            if (tag, name) in LOADS:
                self.loads.append(value)
            elif (tag, name) in GOES:
                self.goes.append(value)

    def handle_endtag(self, tag):
        self.in_style = False

    def handle_data(self, data):
        if self.in_style:
            self.styles.append(data)


def style_loads(text):
    return [first or second for first, second in STYLE_LOADS.findall(text)]


def link_problems(root):
    """What is wrong with the links of all pages and styles below a folder."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    found = [] if pages else [f"{root}: there are no pages"]

    def check(path, link, loaded):
        where = path.relative_to(root)
        if link.startswith("data:"):
            return
        if ELSEWHERE.match(link) or re.match(r"^[a-z][a-z0-9+.-]*:", link, re.IGNORECASE):
            if loaded:
                found.append(f"{where}: loads {link} from another host")
            return
        address = urllib.parse.urlsplit(link)
        target = (path.parent / urllib.parse.unquote(address.path)).resolve() if address.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.is_relative_to(root) or not target.is_file():
            found.append(f"{where}: {link} leads to no file")
        elif address.fragment and target in pages and urllib.parse.unquote(address.fragment) not in pages[target].anchors:
            found.append(f"{where}: {link} leads to no place of {target.relative_to(root)}")

    for path, page in pages.items():
        for link in page.loads + [load for text in page.styles for load in style_loads(text)]:
            check(path, link, True)
        for link in page.goes:
            if link not in ("", "#"):
                check(path, link, False)
    for path in sorted(root.rglob("*.css")):
        for link in style_loads(path.read_text(encoding="utf-8")):
            check(path, link, True)
    return found


def text_of(path):
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def navigation_of(root):
    """The pages that the navigation of the start page leads to."""
    tree = re.search(r'<div class="sidebar-tree">(.*?)</div>', text_of(root / "index.html"), re.DOTALL)
    return {link.removesuffix(".html") for link in re.findall(r'href="([^"#]+)"', tree.group(1))} if tree else set()


def navigation_problems(root, documents):
    navigation = navigation_of(root)
    return [f"{path}: is not in the navigation (docs/site/navigation.toml)" for path in documents
            if path.rpartition(".")[0] not in navigation]


def header_problems(root, headers, entities):
    """Headers without a page, and declarations that their page does not have: those that Doxygen found, and those that the
    layout of the header shows, which does not rely on it."""
    found = []
    contents = text_of(root / "reference" / "cpp.html")
    for folder, included in headers:
        page = text_of(root / f"{cpp_reference.page_of(included)}.html")
        if not page:
            found.append(f"{included}: is a public header and has no page")
            continue
        if f'href="{cpp_reference.page_of(included).removeprefix("reference/")}.html"' not in contents:
            found.append(f"{included}: is not in the list of headers")
        visible = header_comments.declared_names((folder / included).read_text(encoding="utf-8"))
        found += [f"{included}: {name} is not on its page" for name in visible if f'<span class="pre">{name}</span>' not in page]
        shown = page.count('<dl class="c') + page.count('<dl class="cpp')
        for entity in entities.get(included, []):
            # Types without a name, operators and special cases of templates have no name of one word; they are counted.
            name = entity.name.rpartition("::")[2]
            if re.fullmatch(r"\w+", name) and name not in visible and f'<span class="pre">{name}</span>' not in page:
                found.append(f"{included}: {entity.name} is not on its page")
        if shown < len(entities.get(included, [])):
            found.append(f"{included}: declares {len(entities[included])} things, of which its page has {shown}")
    return found


def python_problems(root, names):
    """The names of the page against those of the package."""
    shown = set(re.findall(r'<dt class="[^"]*" id="intarsia\.(\w+)"', text_of(root / "reference" / "python.html")))
    return [f"intarsia.{name}: is public and not on the page of the reference" for name in sorted(set(names) - shown)] + \
        [f"intarsia.{name}: is on the page of the reference and not public" for name in sorted(shown - set(names))]


def problems_of(root):
    root = root.resolve()
    headers = [(source_tree.REPOSITORY / folder, included) for _, folder, included in cpp_reference.public_headers()]
    entities = cpp_reference.entities_by_header(root.parent / "doxygen" / "xml")
    return link_problems(root) + navigation_problems(root, source_tree.documents()) + \
        header_problems(root, headers, entities) + python_problems(root, python_reference.public_names())


def main():
    found = problems_of(pathlib.Path(sys.argv[1]))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
