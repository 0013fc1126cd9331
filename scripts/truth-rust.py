"""Prints the targets of a folder's Rust calls according to rustc, for `truth-calls.ts`.

    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsave-analysis --emit=mir -Zmir-opt-level=0" cargo check --manifest-path PATH/Cargo.toml
    python3 scripts/truth-rust.py PATH > calls.jsonl

Reads the files of rustc 1.63 below PATH/target. The save-analysis (JSON) says which declaration each written name stands
for, and the MIR says on which type a trait's method is called. A call of a trait's method on a type whose
implementation is in the folder reaches that implementation. On a type parameter or a trait object, it reaches the
trait's own method. Files that were not compiled (tests, other platforms) have no answer. Calls in the text of a macro
belong to no line. A tuple struct or a variant that a call creates counts only for precision.
"""
import functools
import glob
import json
import os
import re
import sys
from collections import defaultdict

root = os.path.realpath(sys.argv[1])
METHODS = {"Method", "Function"}
MADE = {"Struct", "TupleVariant", "StructVariant", "Enum", "Union"}


def crate(of):
    return (of["name"], tuple(of["disambiguator"]))


def place(folder, span):
    """Path in the folder, or None."""
    path = os.path.realpath(os.path.join(folder, span["file_name"]))
    inside = path.startswith(root + os.sep) and not path.startswith(os.path.join(root, "target") + os.sep)
    return os.path.relpath(path, root) if inside else None


@functools.cache
def lines_of(path):
    with open(os.path.join(root, path), encoding="utf8", errors="replace") as file:
        return file.read().split("\n")


def is_called(path, line, column):
    """Whether what follows a name is a list of arguments, after type arguments at most."""
    lines = lines_of(path)
    rest = (lines[line - 1][column - 1 :] + "\n" + "\n".join(lines[line : line + 4])).lstrip()
    if rest.startswith("::"):
        rest = rest[2:].lstrip()
    if rest.startswith("<"):
        depth = 0
        for at, letter in enumerate(rest):
            depth += (letter == "<") - (letter == ">" and rest[at - 1] not in "-=")
            if depth == 0:
                rest = rest[at + 1 :].lstrip()
                break
    return rest.startswith("(")


def head(text):
    """The last name of a type's path, after its references: `&'a mut crate::a::B<C>` → `&mut B`."""
    text = re.sub(r"&('\w+ )?", "&", text.strip())
    reference = re.match(r"(&(mut )?)*", text)[0]
    return reference + re.sub(r"<.*$", "", text[len(reference) :], flags=re.S).split("::")[-1].strip()


def impl_of(qualified):
    """`<A as B>::c` → (A, B), by their heads; None for other names."""
    found = re.match(r"<(.*) as (.*)>::\w+(::<.*>)?$", qualified, re.S)
    return found and (head(found[1]), head(found[2]))


analyses = []
for path in sorted(glob.glob(os.path.join(root, "target/**/save-analysis/*.json"), recursive=True)):
    with open(path, encoding="utf8") as file:
        analysis = json.load(file)
    analyses.append((analysis, analysis["compilation"]["directory"]))

definitions = {}  # (crate, index) → (path, line, name, kind)
implementations = defaultdict(dict)  # (crate, index) of a trait's method → {place: (type, trait)}
parents = {}  # variant → enum
for analysis, folder in analyses:
    prelude = analysis["prelude"]
    names = {0: crate(prelude["crate_id"]), **{one["num"]: crate(one["id"]) for one in prelude["external_crates"]}}
    for one in analysis["defs"]:
        path = place(folder, one["span"])
        if path is None or one["kind"] not in METHODS | MADE:
            continue
        # A declaration in a macro's text has no place in the source: its name is an argument of the macro.
        written = lines_of(path)[one["span"]["line_start"] - 1][: one["span"]["column_start"] - 1]
        if one["kind"] in METHODS and not re.search(r"\bfn\s+$", written):
            continue
        key = (names[0], one["id"]["index"])
        definitions[key] = (path, one["span"]["line_start"], one["name"], one["kind"])
        of = one.get("decl_id")
        if of and impl_of(one["qualname"]):
            implementations[names[of["krate"]], of["index"]][definitions[key]] = impl_of(one["qualname"])
        for child in one["children"] if one["kind"] == "Enum" else ():
            parents[names[0], child["index"]] = key

called_on = {}  # (path, line, column) → (type, trait) of the method called there
span_of = re.compile(r"// \+ span: (.+?):(\d+):(\d+): ")
for path in glob.glob(os.path.join(root, "target/**/*.mir"), recursive=True):
    span = None
    for text in open(path, encoding="utf8", errors="replace"):
        if "// + span: " in text:
            span = span_of.search(text)
        elif "// + literal: " in text and span:
            kind = re.search(r"\{(<.* as .*>::\w+(?:::<.*>)?)\}, val:", text)
            if kind:
                called_on[span[1], int(span[2]), int(span[3])] = impl_of(kind[1])

calls = {}
for analysis, folder in analyses:
    prelude = analysis["prelude"]
    names = {0: crate(prelude["crate_id"]), **{one["num"]: crate(one["id"]) for one in prelude["external_crates"]}}
    for ref in analysis["refs"]:
        span = ref["span"]
        path = place(folder, span)
        if path is None or ref["kind"] not in ("Function", "Type"):
            continue
        line, column = span["line_start"], span["column_start"]
        name = lines_of(path)[line - 1][column - 1 : span["column_end"] - 1]
        if not is_called(path, span["line_end"], span["column_end"]):
            continue
        key = (names[ref["ref_id"]["krate"]], ref["ref_id"]["index"])
        key = parents.get(key, key)
        own = definitions.get(key)
        to = {own[:3]} if own else set()
        on = called_on.get((span["file_name"], line, column))
        kinds = implementations.get(key, {})
        if on and kinds:
            fits = {one[:3] for one, kind in kinds.items() if kind == on}
            to = fits or to
        value = own is not None and own[3] in MADE
        calls.setdefault((path, line, column, name), (set(), value))[0].update(to)

for (path, line, _column, name), (to, value) in sorted(calls.items()):
    ends = [{"path": p, "line": l, "name": n} for p, l, n in sorted(to)]
    print(json.dumps({"path": path, "line": line, "name": name, "to": ends, "value": value or len(to) > 1}))
