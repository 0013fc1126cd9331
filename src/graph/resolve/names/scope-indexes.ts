/** Wildcard imports and name spaces of each scope, indexed for a file when first asked for. */

import { ImportKind } from "../../language/fact-layout.ts";
import { type ImportRow, NOTHING, rowAfter, type ScopeRow } from "../../rows.ts";
import { FileIndex } from "../file-index.ts";
import { pushTo, type Repository } from "../repository.ts";

export class ScopeIndexes {
  private readonly wildcards = new FileIndex((file) => this.indexWildcards(file));
  private readonly spaces = new FileIndex((file) => this.indexSpaces(file));

  constructor(private readonly repo: Repository) {}

  hasWildcards(file: number): boolean {
    return this.wildcards.of(file).size > 0;
  }

  /** Rows of imports that make all names of their target visible in a scope. */
  wildcardsOf(file: number, scope: ScopeRow): readonly ImportRow[] {
    const rows = this.wildcards.of(file);
    return rows.size > 0 ? (rows.get(scope) ?? NOTHING) : NOTHING;
  }

  private indexWildcards(file: number): Map<ScopeRow, ImportRow[]> {
    const { repo } = this;
    const index = new Map<ScopeRow, ImportRow[]>();
    const { imports } = repo.facts(file);
    for (let row = imports.first; row < imports.length; row = rowAfter(row))
      if (imports.kind(row) === ImportKind.Wildcard) pushTo(index, imports.scope(row), row);
    // In languages that run imports in order, a later import replaces names of an earlier one.
    if (repo.rules(file).packages) for (const rows of index.values()) rows.reverse();
    return index;
  }

  /** The name spaces whose names a scope shares. */
  spacesOf(file: number, scope: ScopeRow): readonly string[] {
    return this.spaces.of(file).get(scope) ?? NOTHING;
  }

  private indexSpaces(file: number): Map<ScopeRow, readonly string[]> {
    const { repo } = this;
    const index = new Map<ScopeRow, readonly string[]>();
    const { spaces } = repo.facts(file);
    for (let row = 0; row < spaces.length; row++) {
      const scope = spaces.scope(row);
      if (!index.has(scope)) index.set(scope, repo.spacesAt(file, scope));
    }
    return index;
  }
}
