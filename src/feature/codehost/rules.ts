/**
 * Rules that start a run from an event on the code host: for which event, as which user, and which actors may trigger
 * it. Administrators write them.
 */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, invalidField } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { codehostRules as table } from "../../store/tables/codehost.ts";
import type { Core } from "../feature.ts";
import type { Rule, RuleCreate, RuleUpdate } from "./model.ts";

export type RuleRow = typeof table.$inferSelect;

interface RulesDeps extends Pick<Core, "store" | "clock" | "audit"> {
  /** @throws Problem 404. */
  projectOf(id: string): { id: string; repository: string | null };
  pipelineExists(id: string): boolean;
  repositoryOf(address: string | null): string | undefined;
}

export type Rules = ReturnType<typeof createRules>;

const present = (row: RuleRow): Rule => row;

export function createRules(deps: RulesDeps) {
  const { store, clock, audit, projectOf, pipelineExists } = deps;
  const rows = store.rows(table);
  const find = (id: string) => rows.find({ id });
  const rowOf = (id: string): RuleRow => expectFound(find(id), "rule");
  const record = (action: string, caller: Caller, { id, name, repository }: RuleRow) =>
    audit({ action, ...actedBy(caller), subject: id, data: { name, repository } });
  const assertFields = ({ event, label, command, pipeline_id }: RuleRow): void => {
    if (!pipelineExists(pipeline_id)) throw invalidField("/pipeline_id", "There is no such pipeline");
    if (event.endsWith("_labeled") && label === null)
      throw invalidField("/label", "Name the label at which a run starts");
    if (event === "issue_comment" && command === null)
      throw invalidField("/command", "Name the word that the comment begins with, e.g. /skep");
  };
  return {
    list: ({ project_id }: { project_id?: string | undefined }, page: Page): ListAnswer<Rule> =>
      listById(rows.page([{ project_id }], page), page, present),
    /** @throws Problem 404. */
    get: (id: string): Rule => present(rowOf(id)),
    find,
    /** @throws Problem 422 unknown project or pipeline, a project on another host, a missing label or command. */
    create(input: RuleCreate, caller: Caller): Rule {
      const repository = deps.repositoryOf(projectOf(input.project_id).repository);
      if (repository === undefined)
        throw invalidField("/project_id", "The project's repository is not on the connected code host");
      const at = toTimestamp(clock.now());
      const row: RuleRow = {
        enabled: true,
        label: null,
        command: null,
        permission: "write",
        bots: [],
        pull_request: input.event.startsWith("issue_"),
        ...input,
        id: newId("codehostRule"),
        repository,
        user_id: caller.userId ?? null,
        created_at: at,
        updated_at: at,
      };
      assertFields(row);
      return store.write(() => {
        if (rows.count() >= LIMITS.codehostRules)
          throw conflict(`There are ${LIMITS.codehostRules} rules. Delete one first.`, "too_many_rules");
        rows.insert(row);
        record("codehost_rule.created", caller, row);
        return present(row);
      });
    },
    update: (id: string, input: RuleUpdate, caller: Caller): Rule =>
      store.write(() => {
        const row: RuleRow = { ...rowOf(id), ...input, updated_at: toTimestamp(clock.now()) };
        assertFields(row);
        rows.update(row, { id });
        record("codehost_rule.updated", caller, row);
        return present(row);
      }),
    remove: (id: string, caller: Caller): void =>
      store.write(() => {
        const row = rowOf(id);
        rows.remove({ id });
        record("codehost_rule.deleted", caller, row);
      }),
    /** The enabled rules for that event in that repository, oldest first. */
    matching: (repository: string, event: RuleRow["event"]): RuleRow[] =>
      rows.list([{ enabled: true, event }, ["repository = ? COLLATE NOCASE", repository]], { order: "id" }),
    handOver(from: string, to: string | null): void {
      // The rules are switched off, so that their new owner reviews them before they act in the owner's name.
      const heir = { user_id: to, enabled: false };
      store.write(() => rows.update(heir, { user_id: from }));
    },
  };
}
