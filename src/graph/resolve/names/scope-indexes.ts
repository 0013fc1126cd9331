/** What scopes import whole and which name spaces they share, by scope; built for a file when it is first asked. */
import { IMPORT, ImportKind, SPACE } from "../../language/fact-layout.ts";
import { pushTo, type Repository } from "../repository.ts";

export interface ScopeIndexes {
  /** Import rows that make all names of something visible in a scope. */
  wildcards(file: number, scope: number): readonly number[];
  /** Name spaces that a scope shares its names with. */
  spaces(file: number, scope: number): readonly string[];
}

export function createScopeIndexes(repo: Repository): ScopeIndexes {
  const wildcardRows: (Map<number, number[]> | undefined)[] = [];
  const spaceNames: (Map<number, string[]> | undefined)[] = [];

  return {
    wildcards(file, scope) {
      let index = wildcardRows[file];
      if (!index) {
        index = new Map();
        const { imports } = repo.facts(file);
        for (let at = 0, row = 0; at < imports.length; at += IMPORT.size, row++)
          if (imports[at + IMPORT.kind] === ImportKind.Wildcard) pushTo(index, imports[at + IMPORT.scope]!, row);
        // Where imports are carried out in turn, a later one takes the place of an earlier one's names.
        if (repo.rules(file).packages) for (const rows of index.values()) rows.reverse();
        wildcardRows[file] = index;
      }
      return index.get(scope) ?? [];
    },
    spaces(file, asked) {
      let index = spaceNames[file];
      if (!index) {
        index = new Map();
        const { spaces } = repo.facts(file);
        for (let at = 0; at < spaces.length; at += SPACE.size) {
          const scope = spaces[at + SPACE.scope]!;
          if (!index.has(scope)) index.set(scope, [...repo.spacesAt(file, scope)]);
        }
        spaceNames[file] = index;
      }
      return index.get(asked) ?? [];
    },
  };
}
