/** Converts the steps of a pipeline's text for the graph. The text may be invalid. */
import type { Schemas } from "../../api/client.ts";

type StepPlan = Schemas["StepPlan"];
type Loose = Record<string, unknown>;

const isObject = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const toText = (value: unknown): string | null => (typeof value === "string" ? value : null);

function leadsBack(step: Loose): StepPlan["leads_back"] {
  const route = isObject(step["route"]) ? step["route"] : {};
  const to = isObject(route["to"]) ? route["to"] : {};
  const routed = Object.entries(to).flatMap(([value, target]) =>
    typeof target === "string" ? [{ to: target, why: `${String(route["on"])} is ${value}`, times: 0 }] : [],
  );
  const rule = step["on_failure"];
  const back = isObject(rule) ? toText(rule["goto"]) : null;
  return back ? [...routed, { to: back, why: "failed", times: 0 }] : routed;
}

/** @returns the steps that can be recognized. */
export function plansOf(definition: unknown): StepPlan[] {
  const steps = isObject(definition) && Array.isArray(definition["steps"]) ? definition["steps"] : [];
  const named = steps.filter((step): step is Loose => isObject(step) && typeof step["id"] === "string");
  return named.map((step, at) => {
    const id = String(step["id"]);
    const needs = Array.isArray(step["needs"])
      ? step["needs"].map(String)
      : at === 0
        ? []
        : [String(named[at - 1]?.["id"])];
    return {
      id,
      name: toText(step["name"]) ?? id,
      description: toText(step["description"]),
      kind: step["approval"] ? "approval" : step["run"] ? "command" : step["for_each"] ? "for_each" : "agent",
      agent_id: toText(step["agent"]),
      command: toText(step["run"]),
      needs,
      leads_back: leadsBack(step),
      when: toText(step["when"]),
      status: "pending",
      attempts: 0,
      children: { done: 0, total: 0 },
    };
  });
}
