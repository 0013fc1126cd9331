"""Prints the targets of a folder's C and C++ calls according to libclang, for `truth-calls.ts`.

    python3 scripts/truth-c.py PATH [ARGUMENT OF THE COMPILER…] > calls.jsonl

Each source file is read separately, and the folder's own headers are found by name, because the build is not configured.
Names that a missing header would declare have no answer. A call counts where its name is written, so calls in the text
of a macro belong to no line. A function that another file defines is found by clang's unified symbol. A function that
several files define (one per platform) counts only for precision. So does what nobody wrote: an instance of a template
counts as the template, and a default constructor as its class.
"""
import functools
import json
import os
import sys
from collections import defaultdict

from clang import cindex
from clang.cindex import CursorKind

root = os.path.realpath(sys.argv[1])
ENDINGS = {".c", ".cc", ".cpp", ".cxx"}
HEADERS = {".h", ".hh", ".hpp", ".hxx"}
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.FUNCTION_TEMPLATE}

sources, folders = [], {root}
for folder, inner, names in os.walk(root):
    inner[:] = sorted(name for name in inner if not name.startswith("."))
    for name in sorted(names):
        ending = os.path.splitext(name)[1]
        if ending in ENDINGS:
            sources.append(os.path.join(folder, name))
        if ending in HEADERS:
            folders.update({folder, os.path.dirname(folder)})

arguments = [*(f"-I{folder}" for folder in sorted(folders) if folder.startswith(root)), "-D_GNU_SOURCE", *sys.argv[2:]]
index = cindex.Index.create()
definitions = defaultdict(set)  # unified symbol → {(path, line, name)}
declared = set()  # unified symbols of the folder's own functions
made = {}  # unified symbol of what clang made → (path, line, name) of what it was made from
calls = []  # (path, line, name, unified symbol or None, whether a value is called)
seen = set()


@functools.cache
def lines_of(path):
    with open(os.path.join(root, path), encoding="utf8", errors="replace") as file:
        return file.read().split("\n")


def is_written(path, line, name):
    lines = lines_of(path)
    return line <= len(lines) and name in lines[line - 1]


def inside(cursor):
    """Path in the folder, or None."""
    file = cursor.location.file
    path = file and os.path.realpath(file.name)
    return os.path.relpath(path, root) if path and path.startswith(root + os.sep) else None


def walk(cursor):
    for child in cursor.get_children():
        path = inside(child)
        if path is None:
            continue
        if child.kind in FUNCTIONS:
            declared.add(child.get_usr())
        if child.kind in FUNCTIONS and (child.is_definition() or child.is_pure_virtual_method()):
            definitions[child.get_usr()].add((path, child.location.line, child.spelling))
        if child.kind == CursorKind.CALL_EXPR and child.spelling:
            target = child.referenced
            key = (path, child.location.line, child.location.column, child.spelling)
            if target is not None and key not in seen and is_written(path, child.location.line, child.spelling):
                seen.add(key)
                called = target.kind in FUNCTIONS
                if called and inside(target) is not None:
                    made[target.get_usr()] = (inside(target), target.location.line, target.spelling)
                calls.append((path, child.location.line, child.spelling, target.get_usr() if called else None, not called))
        walk(child)


for source in sources:
    try:
        walk(index.parse(source, args=arguments).cursor)
    except cindex.TranslationUnitLoadError:
        print(f"{source}: not read", file=sys.stderr)

for path, line, name, symbol, value in calls:
    # It is declared here and defined in another platform's file, so the target is unknown.
    if symbol in declared and symbol not in definitions:
        continue
    unwritten = symbol in made and symbol not in definitions
    places = [made[symbol]] if unwritten else sorted(definitions.get(symbol, ()))
    to = [{"path": p, "line": l, "name": n} for p, l, n in places]
    print(json.dumps({"path": path, "line": line, "name": name, "to": to, "value": value or unwritten or len(to) > 1}))
