/** The walk through one TypeScript or JavaScript file. */
import { exists, NONE, ROOT } from "../../rows.ts";
import { ScopeKind } from "../fact-layout.ts";
import type { FactsBuilder } from "../facts-builder.ts";
import type { FlatTree } from "../flat-tree.ts";
import { classLike } from "./classes.ts";
import type { Context, Walk } from "./context.ts";
import { expectedFact } from "./expected.ts";
import { expressionFact } from "./expressions.ts";
import { documentedImports } from "./jsdoc.ts";
import { commonJsExport } from "./modules.ts";
import { functionBody, functionDeclaration, statementFacts, statements, variableDeclaration } from "./statements.ts";
import { typeDeclaration } from "./type-declarations.ts";
import { typeFact } from "./types.ts";

export function extractEcmascript(tree: FlatTree, facts: FactsBuilder): void {
  const walk: Walk = {
    tree,
    facts,
    overloads: new Map(),
    tops: new Map(),
    awaited: new Set(),
    decorators: [],
    expression: (node, context) => expressionFact(walk, node, context),
    expected: (node, context, expected) => expectedFact(walk, node, context, expected),
    statement: (node, context) => {
      if (exists(node)) statementFacts(walk, node, context);
    },
    type: (node, context) => typeFact(walk, node, context),
    functionBody: (node, symbol, context, options) => functionBody(walk, node, symbol, context, options),
    functionDeclaration: (node, context, name, flags) => functionDeclaration(walk, node, context, name, flags),
    typeDeclaration: (node, context, flags) => {
      typeDeclaration(walk, node, context, flags);
    },
    variableDeclaration: (node, context, flags) => variableDeclaration(walk, node, context, flags),
    commonJsExport: (left, right, context) => commonJsExport(walk, left, right, context),
    classLike: (node, name, context, flags) => classLike(walk, node, name, context, flags),
  };
  const scope = facts.scope(NONE, ScopeKind.File);
  if (tree.count === 0) return;
  const context: Context = {
    scope,
    varScope: scope,
    symbol: NONE,
    parent: NONE,
    thisScope: NONE,
    returns: undefined,
    top: true,
  };
  documentedImports(walk, context);
  statements(walk, ROOT, context);
}
