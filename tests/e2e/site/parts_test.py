#!/usr/bin/env python3
"""The parts of the documentation site that need neither Sphinx nor Doxygen: comments of headers, and the check of links."""
import pathlib
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "docs" / "site"))

import built_site  # noqa: E402
import cpp_reference  # noqa: E402
import header_comments  # noqa: E402
import python_reference  # noqa: E402
import source_tree  # noqa: E402


def filtered(text):
    return header_comments.Filter(text).text()


class HeaderComments(unittest.TestCase):
    def test_the_first_comment_is_the_files(self):
        self.assertTrue(filtered("// What it is.\n#pragma once\n").startswith("/// @file\n/// What it is.\n"))

    def test_a_comment_before_a_declaration_is_its(self):
        self.assertIn("/// Sums.\nint sum(int a);", filtered("#pragma once\n// Sums.\nint sum(int a);\n"))

    def test_overloads_share_a_comment_and_others_do_not(self):
        text = filtered("#pragma once\n// Sums.\nint sum(int a);\nint sum(float a);\nint other();\n")
        self.assertIn("/// Sums.\nint sum(int a);\n/// Sums.\nint sum(float a);\nint other();", text)

    def test_an_empty_line_ends_what_overloads_share(self):
        self.assertEqual(filtered("#pragma once\n// Sums.\nint sum(int a);\n\nint sum(float a);\n").count("Sums"), 1)

    def test_a_comment_behind_a_declaration_is_its(self):
        self.assertIn("int a;  ///< bytes, of all", filtered("#pragma once\nstruct A {\n  int a;  // bytes,\n          // of all\n};\n"))

    def test_all_names_of_a_declaration_have_the_comment(self):
        text = filtered("#pragma once\nstruct A {\n  int a = 0,\n      b = 1;  // bytes\n};\n")
        self.assertIn("  int a = 0;  ///< bytes\n  int b = 1;  ///< bytes\n", text)

    def test_comments_of_c_are_read_alike(self):
        text = filtered('/* What it is,\n * all of it. */\n#ifndef A_H\n#ifdef __cplusplus\nextern "C" {\n#endif\n/* Sums. */\nint sum(int a);\n'
                        "struct b {\n  int c; /* bytes */\n};\n")
        self.assertTrue(text.startswith("/// @file\n/// What it is,\n/// all of it.\n"), text)
        self.assertIn("/// Sums.\nint sum(int a);", text)
        self.assertIn("int c;  ///< bytes", text)

    def test_a_detached_comment_is_the_files(self):
        self.assertIn("/// One.\n///\n/// Two.\n", filtered("// One.\n#pragma once\n\n// ---- part ----\n\n// Two.\n\nint a();\n"))

    def test_bodies_of_functions_have_none(self):
        text = filtered("#pragma once\nclass A {\n  int a() {\n    // why\n    return 1;  // so\n  }\n};\n")
        self.assertNotIn("why", text)
        self.assertNotIn("so", text)

    def test_macros_over_several_lines_open_no_scope(self):
        self.assertIn("/// Sums.\nint sum();", filtered("#pragma once\n#define A() \\\n  do { \\\n    if (b) {\n// Sums.\nint sum();\n"))

    def test_markup_is_taken_as_it_is_written(self):
        self.assertIn(r"/// \<model\>_run, \#define, a \* b, `Result<T>`", filtered("#pragma once\n// <model>_run, #define, a * b, `Result<T>`\nint a();\n"))

    def test_lists_stay_lists(self):
        self.assertIn("/// * one \\* 2\n///   goes on\n/// * two\n", filtered("#pragma once\n// * one * 2\n//   goes on\n// * two\nint a();\n"))
        self.assertEqual(header_comments.as_markdown(["* a_b", "- c * d"]), ["* a\\_b", "- c \\* d"])

    def test_examples_stay_as_they_are(self):
        text = filtered("// One.\n//\n//   Result<T> a;   // b\n//\n// Two.\n#pragma once\n")
        self.assertIn("/// @verbatim\n///   Result<T> a;   // b\n///\n/// @endverbatim\n/// Two.", text)

    def test_strings_are_no_comments(self):
        self.assertIn('const char* a = "// no";', filtered('#pragma once\nconst char* a = "// no";\n'))

    def test_lists_are_put_in_their_place(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.def").write_text('/* A(name, value, sentence) */\nA(ONE, 1, "the first, of all")\nA(TWO, 2, "")\n')
            text = header_comments.with_lists('enum {\n#define A(n, v, s) B_##n = v,\n#include "a.def"\n#undef A\n};\n', [pathlib.Path(folder)])
        self.assertEqual(text, "enum {\nB_ONE = 1,  // the first, of all\nB_TWO = 2,  // \n};\n")

    def test_what_a_header_declares_is_seen_by_its_layout(self):
        text = "#ifndef A_H\n#define A_H\n#define A_(x) x\n#define B 1\n#define C 2\n#undef C\nstruct D {\n  int e();\n};\nenum class F : int {\n" \
               "std::vector<int> g(int a);\ntemplate <typename T>\nT h(T a);\n#endif\n"
        self.assertEqual(header_comments.declared_names(text), ["B", "D", "F", "g", "h"])

    def test_every_public_header_says_what_it_is(self):
        for _, root, included in cpp_reference.public_headers():
            with self.subTest(included):
                text = (REPOSITORY / root / included).read_text(encoding="utf-8")
                self.assertRegex(filtered(text), r"^/// @file\n/// \S", "it does not say what it is")


class Links(unittest.TestCase):
    def problems(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, text in pages.items():
                path = root / name.replace("__", "/").replace("_", ".")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return built_site.link_problems(root)

    def test_what_resolves_is_no_problem(self):
        self.assertEqual(self.problems(a_html='<a href="sub/b.html#c">x</a><a href="https://example.org">y</a><a href="#d"></a><p id="d">',
                                       sub__b_html='<p id="c"><a href="../a.html">'), [])

    def test_dead_links_are_found(self):
        found = self.problems(a_html='<a href="b.html">x</a><a href="#c">y</a><img src="d.png"><a href="/e.html"></a>')
        self.assertEqual([problem.rpartition(": ")[2] for problem in found],
                         ["d.png leads to no file", "b.html leads to no file", "#c leads to no place of a.html", "/e.html leads to no file"])

    def test_loads_from_other_hosts_are_found(self):
        for text in ('<script src="https://example.org/a.js"></script>', '<link href="//example.org/a.css">',
                     '<img srcset="https://example.org/a.png 2x">', '<style>@import "https://example.org/a.css";</style>',
                     '<p style="background: url(https://example.org/a.png)">'):
            with self.subTest(text):
                self.assertEqual(len(self.problems(a_html=text)), 1)
        self.assertEqual(len(self.problems(a_html="", b_css="@font-face { src: url('https://example.org/a.woff2') }")), 1)
        self.assertEqual(self.problems(a_html='<img src="data:image/png;base64,AA=="><a href="mailto:a@example.org">'), [])

    def test_no_page_at_all_is_a_problem(self):
        self.assertEqual(len(self.problems()), 1)


class Lists(unittest.TestCase):
    def test_every_public_header_is_in_a_group(self):
        listed = {root + "/" + included for _, root, included in cpp_reference.public_headers()}
        there = {header.relative_to(REPOSITORY).as_posix() for header in
                 [*(REPOSITORY / "host-compiler").rglob("include/intarsia/**/*.h"), *(REPOSITORY / "device-runtime/contract").rglob("include/**/*.h")]}
        self.assertGreater(len(there), 50)
        self.assertEqual(there - listed, set(), "GROUPS of docs/site/cpp_reference.py")

    def test_every_document_is_in_the_navigation(self):
        self.assertGreater(len(source_tree.documents()), 60)
        self.assertEqual(source_tree.navigation_problems(), [])

    def test_every_page_of_the_navigation_is_there_once(self):
        pages = source_tree.pages_of_navigation()
        self.assertEqual(len(pages), len(set(pages)), "a page is there twice")

    def test_every_name_of_python_has_a_kind(self):
        kinds = python_reference.kinds()
        for name in python_reference.public_names():
            self.assertIn(name, kinds)


if __name__ == "__main__":
    unittest.main()
