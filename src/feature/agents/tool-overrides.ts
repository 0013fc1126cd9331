/**
 * The tools of an agent: those that its file names (all tools when it names none), changed by what was switched on or
 * off for it.
 */
import { toTimestamp } from "../../core/clock.ts";
import { invalidField, notFound } from "../../core/errors.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import { toolOverrides } from "../../store/tables/agents.ts";
import { activity } from "../events/events.ts";
import type { Core } from "../feature.ts";
import { agentChanged } from "./events.ts";
import type { ToolOverride } from "./model.ts";

export type ToolOverrides = ReturnType<typeof createToolOverrides>;

/** Tools that cannot be switched off: without them no work would ever end. */
const ENDING: ReadonlySet<string> = new Set(["complete", "fail"]);

interface ToolOverridesDeps extends Pick<Core, "store" | "clock"> {
  /** Names of all tools that exist now. */
  toolNames(): string[];
}

export function createToolOverrides({ store, clock, toolNames }: ToolOverridesDeps) {
  const all = store.rows(toolOverrides);
  const rowsOf = (agent_id: string): ToolOverride[] => all.list([{ agent_id }], { order: "tool" });
  /** The agent's overrides, tool → on or off. */
  const readOverrides = (agentId: string) => {
    const rows = store.statement<[tool: string, enabled: number]>(
      "SELECT tool, enabled FROM tool_overrides WHERE agent_id = ?",
    );
    return new Map(
      rows
        .raw()
        .all(agentId)
        .map(([tool, enabled]) => [tool, enabled === 1]),
    );
  };
  const publish = (agentId: string, tool: string, enabled: boolean | null) =>
    store.write(({ emit }) => {
      emit(activity, {
        agent_id: agentId,
        data: {
          title: `tool ${tool} ${enabled === null ? "as its file says" : enabled ? "switched on" : "switched off"}`,
          tool,
          enabled,
        },
      });
      emit(agentChanged, { agent_id: agentId, data: { change: "tools" } });
    });
  return {
    list: (agentId: string, page: Page): ListAnswer<ToolOverride> =>
      pageOfArray(rowsOf(agentId), page, (row) => row.tool),
    /** @throws Problem 404 unknown tool, 422 for a tool that every agent needs. */
    set(agentId: string, tool: string, enabled: boolean, caller: Caller): ToolOverride {
      if (!toolNames().includes(tool)) throw notFound("tool");
      if (ENDING.has(tool))
        throw invalidField("/tool", `${tool} ends an agent's work and cannot be switched; choose another tool`);
      const row = {
        agent_id: agentId,
        tool,
        enabled,
        updated_at: toTimestamp(clock.now()),
        updated_by: actorOf(caller),
      };
      store.write(() => {
        all.put(row, ["agent_id", "tool"]);
        publish(agentId, tool, enabled);
      });
      return row;
    },
    /** @throws Problem 404 when there is no such override. */
    remove: (agentId: string, tool: string): void =>
      store.write(() => {
        if (all.remove({ agent_id: agentId, tool }) === 0) throw notFound("override");
        publish(agentId, tool, null);
      }),
    removeAll(agentId: string): void {
      store.write(() => all.remove({ agent_id: agentId }));
    },
    readOverrides,
    /** Returns a check whether the agent has a tool. @param listed tools that its file names; undefined for all. */
    allows(agentId: string, listed: readonly string[] | undefined): (tool: string, isGranted: boolean) => boolean {
      const switched = readOverrides(agentId);
      return (tool, isGranted) => switched.get(tool) ?? (isGranted || listed === undefined || listed.includes(tool));
    },
  };
}
