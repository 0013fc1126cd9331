/** C#'s `global using`: an import written once that holds for every file of the project, which is the folder it is in. */
import { IMPORT, ImportKind } from "../../language/fact-layout.ts";
import { dirname } from "../../language/paths.ts";
import type { Repository } from "../repository.ts";

/** The imported name by which a language module marks an import that holds beyond its file. */
const EVERYWHERE = "**";

export interface GlobalUsing {
  file: number;
  row: number;
}

/** Gives the imports of other files that hold in a file, the nearest folder's first. */
export function createGlobalUsings(repo: Repository): (file: number) => readonly GlobalUsing[] {
  let byFolder: Map<string, GlobalUsing[]> | undefined;
  const found: (readonly GlobalUsing[] | undefined)[] = [];

  function index(): Map<string, GlobalUsing[]> {
    if (byFolder) return byFolder;
    byFolder = new Map();
    for (let file = 0; file < repo.files.length; file++) {
      if (!repo.rules(file).partialTypes) continue;
      const { imports, strings } = repo.facts(file);
      for (let at = 0, row = 0; at < imports.length; at += IMPORT.size, row++) {
        if (imports[at + IMPORT.kind] !== ImportKind.Wildcard) continue;
        if (strings[imports[at + IMPORT.name]!] !== EVERYWHERE) continue;
        // Beside the sources, or in a folder kept for such files.
        const folder = dirname(repo.files[file]!.path).replace(/(^|\/)(Properties|Usings|Globals?)$/i, "");
        byFolder.set(folder, [...(byFolder.get(folder) ?? []), { file, row }]);
      }
    }
    return byFolder;
  }

  return (file) => {
    const known = found[file];
    if (known) return known;
    const all = index();
    const list: GlobalUsing[] = [];
    if (all.size > 0)
      for (let folder = dirname(repo.files[file]!.path); ; folder = dirname(folder)) {
        list.push(...(all.get(folder) ?? []));
        if (folder === "") break;
      }
    found[file] = list;
    return list;
  };
}
