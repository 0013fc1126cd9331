/**
 * Imports that hold for every file of a project (C#'s `global using`). A project is the folder that the import's file
 * is in.
 */

import { ImportKind } from "../../language/fact-layout.ts";
import { EVERYWHERE } from "../../language/language.ts";
import { dirname } from "../../language/paths.ts";
import { type ImportRow, rowAfter } from "../../rows.ts";
import type { Repository } from "../repository.ts";

interface GlobalImport {
  file: number;
  row: ImportRow;
}

export class GlobalImports {
  /** The global imports by folder; built when first needed. */
  private byFolder: Map<string, GlobalImport[]> | undefined;
  /** The imports that hold in each file. */
  private readonly found: (readonly GlobalImport[] | undefined)[] = [];

  constructor(private readonly repo: Repository) {}

  private indexFolders(): Map<string, GlobalImport[]> {
    const { repo } = this;
    if (this.byFolder) return this.byFolder;
    this.byFolder = new Map();
    for (let file = 0; file < repo.files.length; file++) {
      const { globalImports } = repo.rules(file);
      if (!globalImports) continue;
      const { imports, strings } = repo.facts(file);
      for (let row = imports.first; row < imports.length; row = rowAfter(row)) {
        if (imports.kind(row) !== ImportKind.Wildcard) continue;
        if (strings[imports.name(row)] !== EVERYWHERE) continue;
        const folder = dirname(repo.pathOf(file)).replace(globalImports.folders, "");
        this.byFolder.set(folder, [...(this.byFolder.get(folder) ?? []), { file, row }]);
      }
    }
    return this.byFolder;
  }

  /** The imports of other files that hold in a file, those of the nearest folder first. */
  holdingIn(file: number): readonly GlobalImport[] {
    const known = this.found[file];
    if (known) return known;
    const all = this.indexFolders();
    const list: GlobalImport[] = [];
    if (all.size > 0)
      for (let folder = dirname(this.repo.pathOf(file)); ; folder = dirname(folder)) {
        list.push(...(all.get(folder) ?? []));
        if (folder === "") break;
      }
    this.found[file] = list;
    return list;
  }
}
