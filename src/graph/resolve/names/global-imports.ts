/** Imports that hold for every file of a project, which is the folder they are in. */

import { ImportKind } from "../../language/fact-layout.ts";
import { EVERYWHERE } from "../../language/language.ts";
import { dirname } from "../../language/paths.ts";
import { type ImportRow, rowAfter } from "../../rows.ts";
import type { Repository } from "../repository.ts";

interface GlobalImport {
  file: number;
  row: ImportRow;
}

/** Gives the imports of other files that hold in a file, the nearest folder's first. */
export function createGlobalImports(repo: Repository): (file: number) => readonly GlobalImport[] {
  let byFolder: Map<string, GlobalImport[]> | undefined;
  const found: (readonly GlobalImport[] | undefined)[] = [];

  function index(): Map<string, GlobalImport[]> {
    if (byFolder) return byFolder;
    byFolder = new Map();
    for (let file = 0; file < repo.files.length; file++) {
      const { globalImports } = repo.rules(file);
      if (!globalImports) continue;
      const { imports, strings } = repo.facts(file);
      for (let row = imports.first; row < imports.length; row = rowAfter(row)) {
        if (imports.kind(row) !== ImportKind.Wildcard) continue;
        if (strings[imports.name(row)] !== EVERYWHERE) continue;
        const folder = dirname(repo.files[file]!.path).replace(globalImports.folders, "");
        byFolder.set(folder, [...(byFolder.get(folder) ?? []), { file, row }]);
      }
    }
    return byFolder;
  }

  return (file) => {
    const known = found[file];
    if (known) return known;
    const all = index();
    const list: GlobalImport[] = [];
    if (all.size > 0)
      for (let folder = dirname(repo.files[file]!.path); ; folder = dirname(folder)) {
        list.push(...(all.get(folder) ?? []));
        if (folder === "") break;
      }
    found[file] = list;
    return list;
  };
}
