/**
 * Resolves Rust paths: to modules of the crate by their files, and to other crates of the workspace by their manifests.
 */
import { EXTERNAL, rememberTargets } from "../import-targets.ts";
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";
import { basename, dirname, join } from "../paths.ts";

const ROOTS = new Set(["lib.rs", "main.rs", "mod.rs"]);

export function createRustResolver(project: ProjectFiles): ImportResolver {
  const crates = cratesOf(project);

  /** The file of a module's child module, or -1. */
  function findChild(file: number, name: string): number {
    const path = project.pathOf(file);
    const folder = dirname(path);
    const own = ROOTS.has(basename(path)) ? folder : path.replace(/\.rs$/, "");
    for (const place of own === folder ? [folder] : [own, ...(isRoot(path) ? [folder] : [])])
      for (const candidate of [join(place, `${name}.rs`), join(place, `${name}/mod.rs`)]) {
        const found = project.fileAt(candidate);
        if (found >= 0 && found !== file) return found;
      }
    return -1;
  }

  /** The file that declares a module file; for the root of a crate, the file itself. */
  function findParent(file: number): number {
    const path = project.pathOf(file);
    let folder = dirname(path);
    if (basename(path) === "mod.rs") folder = dirname(folder);
    else if (isRoot(path)) return file;
    for (const candidate of [join(folder, "mod.rs"), `${folder}.rs`, join(folder, "lib.rs"), join(folder, "main.rs")]) {
      const found = project.fileAt(candidate);
      if (found >= 0 && found !== file) return found;
    }
    return file;
  }

  /** Whether a file is the root of a crate: lib.rs, main.rs, and each file in tests, examples, benches and bin. */
  function isRoot(path: string): boolean {
    const name = basename(path);
    if (name === "lib.rs" || name === "main.rs") return true;
    return name !== "mod.rs" && /(^|\/)(tests|examples|benches|bin)$/.test(dirname(path));
  }

  function rootOf(file: number): number {
    let at = file;
    for (let steps = 0; steps < 30; steps++) {
      const up = findParent(at);
      if (up === at) return at;
      at = up;
    }
    return at;
  }

  /** Follows a path of modules from a file. The rest of the path is inside of the last module. */
  function walk(start: number, parts: readonly string[]): ImportTarget {
    let file = start;
    for (const [i, part] of parts.entries()) {
      if (part === "self") continue;
      const next = part === "super" ? findParent(file) : findChild(file, part);
      if (next < 0) return { kind: "inside", file, space: "", path: parts.slice(i) };
      file = next;
    }
    return { kind: "file", file };
  }

  function find(module: string, from: number): ImportTarget {
    const [first = "", ...rest] = module.split("::");
    if (first === "crate") return walk(rootOf(from), rest);
    if (first === "self" || first === "super") return walk(from, [first, ...rest]);
    const known = crates.get(first.replace(/-/g, "_"));
    if (known !== undefined) return walk(known, rest);
    return findChild(from, first) >= 0 ? walk(from, [first, ...rest]) : EXTERNAL;
  }

  return rememberTargets((module, from) => `${from}\n${module}`, find);
}

const NAMED_PACKAGE = /^\[package\][^[]*?^name\s*=\s*"([^"]+)"/m;
const NAMED_LIBRARY = /^\[lib\][^[]*?^name\s*=\s*"([^"]+)"/m;

/** For every crate with a manifest in the repository, the root file of its library. */
function cratesOf(project: ProjectFiles): Map<string, number> {
  const found = new Map<string, number>();
  for (const config of project.configsNamed("Cargo.toml")) {
    const text = project.readConfig(config) ?? "";
    const names = [NAMED_PACKAGE, NAMED_LIBRARY].map((named) => named.exec(text)?.[1]);
    const path = /^\[lib\][^[]*?^path\s*=\s*"([^"]+)"/m.exec(text)?.[1] ?? "src/lib.rs";
    const file = project.fileAt(join(dirname(config), path));
    if (file < 0) continue;
    for (const one of names) if (one) found.set(one.replace(/-/g, "_"), file);
  }
  return found;
}
