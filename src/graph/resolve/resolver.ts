/** Joins the parts of type evaluation over one repository. */

import type { ImportResolver, ImportTarget, ProjectFiles } from "../language/language.ts";
import type { ImportRow } from "../rows.ts";
import { createCalls } from "./calls/calls.ts";
import { createOverloads } from "./calls/overloads.ts";
import type { Engine } from "./engine.ts";
import { createIncludes } from "./names/includes.ts";
import { createNames } from "./names/names.ts";
import type { Repository } from "./repository.ts";
import { createAssignments } from "./types/assignments.ts";
import { createExpressions } from "./types/expressions.ts";
import { createLibrary } from "./types/library.ts";
import { createMembers } from "./types/members.ts";
import { createTypes } from "./types/types.ts";

/** The evaluator of a repository. Everything is found on demand and remembered for the life of the engine. */
export function createEngine(repo: Repository, project: ProjectFiles): Engine {
  const resolvers = new Map<string, ImportResolver>();
  const targets: (ImportTarget | undefined)[][] = [];

  function importTarget(file: number, row: ImportRow): ImportTarget {
    targets[file] ??= [];
    const known = targets[file][row];
    if (known) return known;
    const language = repo.files[file]!.language;
    let resolver = resolvers.get(language.id);
    if (!resolver) {
      resolver = language.createResolver(project);
      resolvers.set(language.id, resolver);
    }
    const { imports, strings } = repo.facts(file);
    const target = resolver.resolve(strings[imports.module(row)]!, strings[imports.name(row)]!, file);
    targets[file][row] = target;
    return target;
  }

  // The parts refer to each other through this object, which is complete before any of them is asked.
  const engine = { repo, project, importTarget } as Engine;
  Object.assign(
    engine,
    { library: createLibrary(engine) },
    createNames(engine),
    createTypes(engine),
    createExpressions(engine),
    createAssignments(engine),
    createMembers(engine),
    createCalls(engine),
    createIncludes(engine),
    createOverloads(engine),
  );
  return engine;
}
