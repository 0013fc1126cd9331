/** Pipelines: files that people write, checked when they are read, written only when they are valid. */
import { parseDocument } from "yaml";
import { timestamp } from "../../core/clock.ts";
import { conflict, invalidField, notFound, Problem } from "../../core/errors.ts";
import { isSlug } from "../../core/ids.ts";
import { didYouMean } from "../../core/near.ts";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import type { KnownNames } from "../../engine/pipeline/meaning.ts";
import type { ParsedPipeline } from "../../engine/pipeline/parse.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import type { TextFile, TextFolder } from "../../store/text-folder.ts";
import { activity } from "../events/events.ts";
import type { Pipeline, PipelineBody, PipelineDetail, Validation } from "./model.ts";

export interface PipelinesDeps {
  store: Store;
  audit: Audit;
  /** The folder of agents. */
  folder: TextFolder;
  /** From `engine/pipeline`. */
  parse(text: string, known?: KnownNames): ParsedPipeline;
  agentsOf(definition: PipelineDefinition): string[];
  agentIds(): string[];
  /** Names of skills that the agent has and that can be read. */
  skillsOf(agentId: string): string[];
}

export interface Pipelines {
  ids(): string[];
  exists(id: string): boolean;
  list(page: Page): ListAnswer<Pipeline>;
  /** @throws Problem 404. */
  get(id: string): PipelineDetail;
  /** What a run is made of. @throws Problem 404, 422 `pipeline_invalid` with its problems. */
  definitionOf(id: string): PipelineDefinition;
  /** @throws Problem 409 same id, 422. */
  create(body: PipelineBody, caller: Caller): PipelineDetail;
  /** The whole text, or single fields with the file's comments kept. @throws Problem 422. */
  update(id: string, body: PipelineBody, caller: Caller): PipelineDetail;
  remove(id: string, caller: Caller): void;
  validate(body: PipelineBody): Validation;
  /** Every file with its problems. */
  files(): { file: string; problems: Pipeline["problems"] }[];
}

const FOLDER = "_pipelines";
const ENDING = /\.ya?ml$/;
const NO_ALIASES = { aliasDuplicateObjects: false };
const FIELDS = ["id", "name", "description", "version", "defaults", "inputs", "steps"] as const;

export function createPipelines({
  store,
  audit,
  folder,
  parse,
  agentsOf,
  agentIds,
  skillsOf,
}: PipelinesDeps): Pipelines {
  interface Known {
    parsed: ParsedPipeline;
    agents: string;
    /** The agents' skills that the check depended on, by agent. */
    skills: ReadonlyMap<string, string>;
  }
  const cache = new WeakMap<TextFile, Known>();
  const check = (text: string, fileId?: string): Known => {
    const skills = new Map<string, string>();
    const asked = (agentId: string): ReadonlySet<string> => {
      const names = skillsOf(agentId);
      skills.set(agentId, names.join());
      return new Set(names);
    };
    const ids = agentIds();
    return { parsed: parse(text, { fileId, agents: new Set(ids), skillsOf: asked }), agents: ids.join(), skills };
  };
  const stillHolds = ({ agents, skills }: Known): boolean =>
    agents === agentIds().join() && [...skills].every(([agentId, names]) => skillsOf(agentId).join() === names);
  const parseText = (text: string, fileId?: string): ParsedPipeline => check(text, fileId).parsed;
  const parseFile = (id: string, file: TextFile): ParsedPipeline => {
    if (file.problem !== undefined) return { problems: [{ line: 1, column: 1, pointer: "", message: file.problem }] };
    const known = cache.get(file);
    if (known && stillHolds(known)) return known.parsed;
    const checked = check(file.text, id);
    cache.set(file, checked);
    return checked.parsed;
  };
  /** The file of that id; `.yml` comes before `.yaml`. */
  const fileOf = (id: string): TextFile | undefined =>
    isSlug(id) ? (folder.read(`${FOLDER}/${id}.yml`) ?? folder.read(`${FOLDER}/${id}.yaml`)) : undefined;
  const find = (id: string): TextFile => {
    const file = fileOf(id);
    if (!file) throw notFound("pipeline", didYouMean(id, ids()));
    return file;
  };
  const ids = (): string[] => {
    const names = folder
      .list(FOLDER)
      .filter(({ name, kind }) => kind === "file" && ENDING.test(name))
      .map(({ name }) => name.replace(ENDING, ""));
    return [...new Set(names)].filter(isSlug).sort();
  };
  const present = (id: string, file: TextFile): Pipeline => {
    const { definition, problems } = parseFile(id, file);
    return {
      id,
      name: definition?.name ?? id,
      description: definition?.description ?? "",
      version: definition?.version ?? 1,
      steps: (definition?.steps ?? []).map((step) => ({ ...step })),
      agents: definition ? agentsOf(definition) : [],
      inputs: definition?.inputs ?? {},
      defaults: definition?.defaults ?? {},
      source_file: file.path,
      valid: definition !== undefined,
      problems,
      updated_at: timestamp(Math.trunc(file.modifiedAt)),
    };
  };
  const detail = (id: string): PipelineDetail => {
    const file = find(id);
    return { ...present(id, file), source: file.text };
  };
  const assertValid = (text: string, fileId?: string): PipelineDefinition => {
    const { definition, problems } = parseText(text, fileId);
    if (!definition) throw wrong(problems);
    return definition;
  };
  const record = (change: string, id: string, caller: Caller): void =>
    store.write(({ emit }) => {
      audit({ action: `pipeline.${change}`, actor: actorOf(caller), subject: id, address: caller.address });
      emit(activity, { data: { title: `pipeline ${id} ${change}`, pipeline_id: id } });
    });

  return {
    ids,
    exists: (id) => fileOf(id) !== undefined,
    list: (page) => {
      const { items, next_cursor } = pageOfArray(
        ids().map((id) => ({ id })),
        page,
        ({ id }) => id,
      );
      return { items: items.flatMap(({ id }) => presentIfThere(id)), next_cursor };
    },
    get: detail,
    definitionOf(id) {
      const { definition, problems } = parseFile(id, find(id));
      if (!definition) throw wrong(problems, "pipeline_invalid", `The pipeline ${id} cannot run. `);
      return definition;
    },
    create(body, caller) {
      const text = body.source ?? written("", body);
      const { id } = assertValid(text);
      if (body.id !== undefined && body.id !== id) throw invalidField("/id", "The source names another id");
      if (fileOf(id)) throw conflict("A pipeline with this id exists. Change it, or choose another id.");
      folder.write(`${FOLDER}/${id}.yml`, text);
      record("created", id, caller);
      return detail(id);
    },
    update(id, body, caller) {
      const file = find(id);
      const text = body.source ?? written(file.text, body);
      assertValid(text, id);
      folder.write(file.path, text);
      record("updated", id, caller);
      return detail(id);
    },
    remove(id, caller) {
      folder.remove(find(id).path);
      record("deleted", id, caller);
    },
    files: () =>
      ids().flatMap((id) => presentIfThere(id).map(({ source_file, problems }) => ({ file: source_file, problems }))),
    validate(body) {
      const { definition, problems } = parseText(body.source ?? written("", body));
      return { valid: definition !== undefined, problems };
    },
  };

  function presentIfThere(id: string): Pipeline[] {
    const file = fileOf(id);
    return file ? [present(id, file)] : [];
  }
}

function wrong(problems: ParsedPipeline["problems"], code = "validation_failed", head = ""): Problem {
  const [first] = problems;
  const detail = `${head}${first ? `Line ${first.line}: ${first.message}` : "The pipeline is not valid."}`;
  const errors = problems.map(({ pointer, message, line, column }) => ({
    pointer,
    message: `Line ${line}, column ${column}: ${message}`,
  }));
  return new Problem(422, code, detail, { errors, data: { problems } });
}

/** The text with the given fields changed, null removing one; comments and order stay. */
function written(text: string, body: PipelineBody): string {
  const document = parseDocument(text, { logLevel: "silent" });
  if (document.errors.length > 0)
    throw conflict("The file is broken; send its whole text as source.", "pipeline_broken");
  if (document.contents === null) document.contents = document.createNode({}) as never;
  for (const name of FIELDS) {
    const value = body[name];
    if (value === undefined) continue;
    if (value === null) document.delete(name);
    // A plain value is put into the node that is there, so the comment behind it stays.
    else document.set(name, typeof value === "object" ? document.createNode(value, NO_ALIASES) : value);
  }
  return document.toString({ lineWidth: 0 });
}
