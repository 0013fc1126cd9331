/** Wildcard imports and name spaces of each scope; built for a file when first asked. */

import { ImportKind } from "../../language/fact-layout.ts";
import { type ImportRow, rowAfter, type ScopeRow } from "../../rows.ts";
import { pushTo, type Repository } from "../repository.ts";

export class ScopeIndexes {
  private readonly repo: Repository;
  private readonly wildcardRows: (Map<ScopeRow, ImportRow[]> | undefined)[] = [];
  private readonly spaceNames: (Map<number, string[]> | undefined)[] = [];

  constructor(repo: Repository) {
    this.repo = repo;
  }

  /** Import rows that make all names of something visible in a scope. */
  wildcardsOf(file: number, scope: ScopeRow): readonly ImportRow[] {
    const { repo } = this;
    let index = this.wildcardRows[file];
    if (!index) {
      index = new Map();
      const { imports } = repo.facts(file);
      for (let row = imports.first; row < imports.length; row = rowAfter(row))
        if (imports.kind(row) === ImportKind.Wildcard) pushTo(index, imports.scope(row), row);
      // Where imports run in order, a later one replaces the names of an earlier one.
      if (repo.rules(file).packages) for (const rows of index.values()) rows.reverse();
      this.wildcardRows[file] = index;
    }
    return index.get(scope) ?? [];
  }

  /** Name spaces that a scope shares its names with. */
  spacesOf(file: number, asked: ScopeRow): readonly string[] {
    const { repo } = this;
    let index = this.spaceNames[file];
    if (!index) {
      index = new Map();
      const { spaces } = repo.facts(file);
      for (let row = 0; row < spaces.length; row++) {
        const scope = spaces.scope(row);
        if (!index.has(scope)) index.set(scope, [...repo.spacesAt(file, scope)]);
      }
      this.spaceNames[file] = index;
    }
    return index.get(asked) ?? [];
  }
}
