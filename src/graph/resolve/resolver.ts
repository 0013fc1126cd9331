/** Puts the parts of type evaluation together over one repository. */
import { IMPORT } from "../parse/fact-layout.ts";
import type { ImportResolver, ImportTarget, ProjectFiles } from "../parse/language.ts";
import { createAssignments } from "./assignments.ts";
import { createCalls } from "./calls.ts";
import type { Engine } from "./engine.ts";
import { createExpressions } from "./expressions.ts";
import { createIncludes } from "./includes.ts";
import { createLibrary } from "./library.ts";
import { createMembers } from "./members.ts";
import { createNames } from "./names.ts";
import { createOverloads } from "./overloads.ts";
import type { Repository } from "./repository.ts";
import { createTypes } from "./types.ts";

/** The evaluator of a repository. Everything is found on demand and remembered for the life of the engine. */
export function createEngine(repo: Repository, project: ProjectFiles): Engine {
  const resolvers = new Map<string, ImportResolver>();
  const targets: (ImportTarget | undefined)[][] = [];

  function importTarget(file: number, row: number): ImportTarget {
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
    const at = row * IMPORT.size;
    const target = resolver.resolve(strings[imports[at + IMPORT.module]!]!, strings[imports[at + IMPORT.name]!]!, file);
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
