"""The quality of the graph's CALLS edges for Python, compared with jedi's answers.

    skep graph export PATH > graph.jsonl && python3 scripts/truth-python.py PATH graph.jsonl

A call counts if jedi resolves the called name to a function or class of the folder. An edge is false if jedi resolves
every call of that name on its line elsewhere. If jedi has no answer, the edge is not judged.
"""
import ast
import json
import os
import sys
from collections import defaultdict

import jedi

root, exported = os.path.realpath(sys.argv[1]), sys.argv[2]
nodes, edges = {}, []
for line in open(exported):
    row = json.loads(line)
    row = row.get("node") or row.get("edge") or row
    if row.get("type") == "CALLS":
        edges.append(row)
    elif "label" in row:
        nodes[row["id"]] = row
paths = sorted({n["file_path"] for n in nodes.values() if n.get("language") == "python" and n.get("file_path")})

truth, answered = defaultdict(set), defaultdict(set)
# Use the folder's own packages instead of installed ones with the same names.
standard = [path for path in sys.path if "site-packages" not in path]
project = jedi.Project(root, sys_path=[os.path.join(root, "src"), root, *standard])
for path in paths:
    source = open(os.path.join(root, path), encoding="utf8", errors="replace").read()
    try:
        tree = ast.parse(source)
    except SyntaxError:
        continue
    script = jedi.Script(source, path=os.path.join(root, path), project=project)
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        f = call.func
        if isinstance(f, ast.Name):
            line, column, name = f.lineno, f.col_offset, f.id
        elif isinstance(f, ast.Attribute):
            line, column, name = f.end_lineno, f.end_col_offset - 1, f.attr
        else:
            continue
        try:
            found = script.goto(line, column, follow_imports=True)
        except Exception:
            continue
        for one in found:
            if one.type not in ("function", "class") or one.module_path is None:
                continue
            place = os.path.realpath(one.module_path)
            answered[(path, line)].add(name)
            if place.startswith(root + os.sep):
                truth[(path, line)].add((os.path.relpath(place, root), one.name, one.line))


def fits(node, wanted):
    """A class stands for its constructor, and the other way round."""
    path, name, line = wanted
    names = {node["name"], node["qualified_name"].split(".")[-2] if node["name"] == "__init__" else node["name"]}
    return node["file_path"] == path and name in names and node["start_line"] <= line + 1 and line <= node["end_line"]


given = defaultdict(list)
for edge in edges:
    start = nodes.get(edge["from"])
    if start and edge["to"] in nodes:
        given[(start.get("file_path") or start["qualified_name"], edge.get("line"))].append((nodes[edge["to"]], edge["reason"]))

expected = found = judged = right = 0
reasons = defaultdict(lambda: [0, 0])
missed, wrong = [], []
for key, targets in truth.items():
    for target in targets:
        expected += 1
        if any(fits(node, target) for node, _ in given.get(key, [])):
            found += 1
        else:
            missed.append(f"{key[0]}:{key[1]} -> {target}")
for key, ends in given.items():
    for node, reason in ends:
        ok = any(fits(node, target) for target in truth.get(key, ()))
        name = node["qualified_name"].split(".")[-2] if node["name"] == "__init__" else node["name"]
        if not ok and name not in answered.get(key, ()):
            continue
        judged += 1
        reasons[reason][1] += 1
        if ok:
            right += 1
            reasons[reason][0] += 1
        else:
            wrong.append(f"{key[0]}:{key[1]} -> {node['id']} ({reason})")
for text in missed[:: max(1, len(missed) // 20)][:20]:
    print("missed", text)
for text in wrong[:20]:
    print("wrong", text)
print(json.dumps({"expected": expected, "recall": round(found / max(1, expected), 4), "judged": judged, "precision": round(right / max(1, judged), 4), "by_reason": reasons}))
