"""The reference of the Python package: the names of `intarsia.__all__`, read from the sources without importing them."""
import ast
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "intarsia"


def public_names():
    """`intarsia.__all__`."""
    for node in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            return ast.literal_eval(node.value)
    raise ValueError(f"{PACKAGE / '__init__.py'} has no __all__")


def kinds():
    """"function", "class", "exception" or "data", by each name that a module of the package defines."""
    found = {}
    for path in sorted(PACKAGE.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = "function"
            elif isinstance(node, ast.ClassDef):
                is_error = any(isinstance(base, ast.Name) and base.id in ("Exception", "ValueError", "RuntimeError") for base in node.bases)
                found[node.name] = "exception" if is_error else "class"
            elif isinstance(node, ast.Assign):
                found.update({target.id: "data" for target in node.targets if isinstance(target, ast.Name)})
    return found


def write_page(source):
    kind_of = kinds()
    text = ["Python", "======", "", ".. automodule:: intarsia", "", ".. currentmodule:: intarsia", ""]
    for title, kind in (("Functions", "function"), ("Classes", "class"), ("Exceptions", "exception"), ("Types of arguments", "data")):
        text += [title, "-" * len(title), ""]
        for name in sorted(name for name in public_names() if kind_of[name] == kind):
            text += [f".. auto{kind}:: {name}"]
            text += ["   :members:", "   :special-members: __call__, __len__, __getitem__"] if kind in ("class", "exception") else []
            # A type that is made of others is shown by its words, not by the names of modules that others have.
            text += ["   :no-value:"] if kind == "data" else []
            text += [""]
    (source / "reference" / "python.rst").write_text("\n".join(text), encoding="utf-8")
