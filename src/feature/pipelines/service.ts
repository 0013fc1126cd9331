/** Pipelines: files that people write. They are checked when they are read, and written only if valid. */
import { type Document, parseDocument } from "yaml";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, invalidField, notFound, Problem } from "../../core/errors.ts";
import { isSlug } from "../../core/ids.ts";
import { didYouMean } from "../../core/near.ts";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import type { ParsedPipeline } from "../../engine/pipeline/parse.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { TextFile, TextFolder } from "../../store/text-folder.ts";
import { activity } from "../events/events.ts";
import type { Core } from "../feature.ts";
import { type ChecksDeps, createChecks, type Team } from "./checks.ts";
import type { Pipeline, PipelineBody, PipelineDetail, Validation } from "./model.ts";

interface PipelinesDeps extends ChecksDeps, Pick<Core, "store" | "audit"> {
  /** The folder of agents. */
  folder: TextFolder;
  agentsOf(definition: PipelineDefinition): string[];
  /** Reads all agents and skills, a few files before each `yield`. */
  lookAtTeam(): Generator<void>;
}

export type Pipelines = ReturnType<typeof createPipelines>;

const FOLDER = "_pipelines";
const ENDING = /\.ya?ml$/;
const NO_ALIASES = { aliasDuplicateObjects: false };
const FIELDS = ["id", "name", "description", "version", "defaults", "inputs", "steps"] as const;

export function createPipelines(deps: PipelinesDeps) {
  const { store, audit, folder, agentsOf, lookAtTeam } = deps;
  const { teamNow, parseText, parseFile } = createChecks(deps);
  /** The file of that id; `.yml` takes precedence over `.yaml`. */
  const fileOf = (id: string): TextFile | undefined =>
    isSlug(id) ? (folder.read(`${FOLDER}/${id}.yml`) ?? folder.read(`${FOLDER}/${id}.yaml`)) : undefined;
  const find = (id: string): TextFile => {
    const file = fileOf(id);
    if (!file) throw notFound("pipeline", didYouMean(id, listIds()));
    return file;
  };
  const listIds = (): string[] => {
    const names = folder
      .list(FOLDER)
      .filter(({ name, kind }) => kind === "file" && ENDING.test(name))
      .map(({ name }) => name.replace(ENDING, ""));
    return [...new Set(names)].filter(isSlug).sort();
  };
  type Show<T> = (id: string, file: TextFile, team: Team) => T;
  /** Shows the wanted pipelines that have a file. */
  const allOf = <T>(wanted: readonly string[], show: Show<T>): T[] => {
    const team = teamNow();
    return wanted.flatMap((id) => {
      const file = fileOf(id);
      return file ? [show(id, file, team)] : [];
    });
  };
  const showAll = <T>(show: Show<T>): T[] => folder.snapshot(() => allOf(listIds(), show));
  const present = (id: string, file: TextFile, team: Team): Pipeline => {
    const { definition, problems } = parseFile(id, file, team);
    return {
      id,
      name: definition?.name ?? id,
      description: definition?.description ?? "",
      version: definition?.version ?? 1,
      steps: definition?.steps ?? [],
      agents: definition ? agentsOf(definition) : [],
      inputs: definition?.inputs ?? {},
      defaults: definition?.defaults ?? {},
      source_file: file.path,
      valid: definition !== undefined,
      problems,
      updated_at: toTimestamp(Math.trunc(file.modifiedAt)),
    };
  };
  const loadDetail = (id: string): PipelineDetail => {
    const file = find(id);
    return { ...present(id, file, teamNow()), source: file.text };
  };
  const assertValid = (text: string, fileId?: string): PipelineDefinition => {
    const { definition, problems } = parseText(text, fileId);
    if (!definition) throw createProblem(problems);
    return definition;
  };
  const record = (change: string, id: string, caller: Caller): void =>
    store.write(({ emit }) => {
      audit({ action: `pipeline.${change}`, ...actedBy(caller), subject: id });
      emit(activity, { data: { title: `pipeline ${id} ${change}`, pipeline_id: id } });
    });

  const wantedOf = (page: Page): { wanted: string[]; next_cursor: string | null } => {
    const rows = listIds().map((id) => ({ id }));
    const { items, next_cursor } = pageOfArray(rows, page, ({ id }) => id);
    return { wanted: items.map(({ id }) => id), next_cursor };
  };
  function* look(wanted = listIds): Generator<void> {
    yield* lookAtTeam();
    const team = teamNow();
    for (const id of wanted()) {
      const file = fileOf(id);
      if (file) parseFile(id, file, team);
      yield;
    }
  }
  const list = (page: Page): ListAnswer<Pipeline> =>
    folder.snapshot(() => {
      const { wanted, next_cursor } = wantedOf(page);
      return { items: allOf(wanted, present), next_cursor };
    });

  return {
    listIds,
    list,
    /** Reads and checks all pipelines, a few before each `yield`, so that other work runs in between. */
    look,
    exists: (id: string): boolean => fileOf(id) !== undefined,
    /** Lists pipelines as `list` does, and lets other work run while the files are read. */
    listInTurns: (page: Page): Promise<ListAnswer<Pipeline>> =>
      folder.snapshotInTurns(
        () => look(() => wantedOf(page).wanted),
        () => list(page),
      ),
    /** All pipelines. */
    listSummaries: (): Pick<Pipeline, "id" | "name" | "description">[] =>
      showAll((id, file, team) => {
        const { definition } = parseFile(id, file, team);
        return { id, name: definition?.name ?? id, description: definition?.description ?? "" };
      }),
    /** @throws Problem 404. */
    get: loadDetail,
    /** The definition of a pipeline, for a run. @throws Problem 404, 422 `pipeline_invalid` with its problems. */
    definitionOf(id: string): PipelineDefinition {
      const { definition, problems } = parseFile(id, find(id), teamNow());
      if (!definition) throw createProblem(problems, "pipeline_invalid", `The pipeline ${id} cannot run. `);
      return definition;
    },
    /** @throws Problem 409 when the id is taken, 422. */
    create(body: PipelineBody, caller: Caller): PipelineDetail {
      const text = body.source ?? rewrite("", body);
      const { id } = assertValid(text);
      if (body.id !== undefined && body.id !== id) throw invalidField("/id", "The source names another id");
      if (fileOf(id)) throw conflict("A pipeline with this id exists. Change it, or choose another id.");
      folder.write(`${FOLDER}/${id}.yml`, text);
      record("created", id, caller);
      return loadDetail(id);
    },
    /** Replaces the whole text, or single fields, which keeps the file's comments. @throws Problem 422. */
    update(id: string, body: PipelineBody, caller: Caller): PipelineDetail {
      const file = find(id);
      const text = body.source ?? rewrite(file.text, body);
      assertValid(text, id);
      folder.write(file.path, text);
      record("updated", id, caller);
      return loadDetail(id);
    },
    remove(id: string, caller: Caller): void {
      folder.remove(find(id).path);
      record("deleted", id, caller);
    },
    /** Every pipeline file with its problems. */
    files: (): { file: string; problems: Pipeline["problems"] }[] =>
      showAll(present).map(({ source_file, problems }) => ({ file: source_file, problems })),
    validate(body: PipelineBody): Validation {
      const { definition, problems } = parseText(body.source ?? rewrite("", body));
      return { valid: definition !== undefined, problems };
    },
  };
}

function createProblem(problems: ParsedPipeline["problems"], code = "validation_failed", head = ""): Problem {
  const [first] = problems;
  const detail = `${head}${first ? `Line ${first.line}: ${first.message}` : "The pipeline is not valid."}`;
  const errors = problems.map(({ pointer, message, line, column }) => ({
    pointer,
    message: `Line ${line}, column ${column}: ${message}`,
  }));
  return new Problem(422, code, detail, { errors, data: { problems } });
}

/** Changes the given fields in the text; null removes a field. Comments and order stay. */
function rewrite(text: string, body: PipelineBody): string {
  const document: Document = parseDocument(text, { logLevel: "silent" });
  if (document.errors.length > 0)
    throw conflict("The file is broken; send its whole text as source.", "pipeline_broken");
  if (document.contents === null) document.contents = document.createNode({});
  for (const name of FIELDS) {
    const value = body[name];
    if (value === undefined) continue;
    if (value === null) document.delete(name);
    // A plain value is set in the existing node, so that the comment behind it stays.
    else document.set(name, typeof value === "object" ? document.createNode(value, NO_ALIASES) : value);
  }
  return document.toString({ lineWidth: 0 });
}
