/** Wildcard imports and name spaces of each scope; built for a file when first asked. */

import { ImportKind } from "../../language/fact-layout.ts";
import { type ImportRow, rowAfter, type ScopeRow } from "../../rows.ts";
import { pushTo, type Repository } from "../repository.ts";

interface ScopeIndexes {
  /** Import rows that make all names of something visible in a scope. */
  wildcards(file: number, scope: ScopeRow): readonly ImportRow[];
  /** Name spaces that a scope shares its names with. */
  spaces(file: number, scope: ScopeRow): readonly string[];
}

export function createScopeIndexes(repo: Repository): ScopeIndexes {
  const wildcardRows: (Map<ScopeRow, ImportRow[]> | undefined)[] = [];
  const spaceNames: (Map<number, string[]> | undefined)[] = [];

  return {
    wildcards(file, scope) {
      let index = wildcardRows[file];
      if (!index) {
        index = new Map();
        const { imports } = repo.facts(file);
        for (let row = imports.first; row < imports.length; row = rowAfter(row))
          if (imports.kind(row) === ImportKind.Wildcard) pushTo(index, imports.scope(row), row);
        // Where imports run in order, a later one replaces the names of an earlier one.
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
        for (let row = 0; row < spaces.length; row++) {
          const scope = spaces.scope(row);
          if (!index.has(scope)) index.set(scope, [...repo.spacesAt(file, scope)]);
        }
        spaceNames[file] = index;
      }
      return index.get(asked) ?? [];
    },
  };
}
