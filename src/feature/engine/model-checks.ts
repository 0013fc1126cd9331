/** Whether the models that work needs can be called, for `skep doctor`. */
import { type Finding, fail, ok } from "../doctor/model.ts";

export interface ModelUse {
  /** provider/model. */
  model: string;
  /** Who names it: `the settings`, or an agent's id. */
  by: string;
  /** How its provider stands. */
  state: "ready" | "off" | "not configured" | "key refused" | "unknown";
}

const INIT = "skep init, or: skep providers set PROVIDER --key --default PROVIDER/MODEL";

/** @param uses the default model and those that agents name. @param isConfigured whether any provider but the scripted one is. */
export function checkModels(uses: readonly ModelUse[], hasDefault: boolean, isConfigured: boolean): Finding[] {
  if (!isConfigured)
    return [fail("models", "no provider is set up: only demo/scripted plays, a transcript and no AI", INIT)];
  const bad = uses.filter(({ state }) => state !== "ready");
  const findings = bad.map(({ model, by, state }) =>
    fail("models", `${model}, which ${by} names, cannot be called: its provider is ${STATES[state]}`, REMEDIES[state]),
  );
  if (!hasDefault)
    findings.push(
      fail(
        "models",
        "no default model is set; what names none cannot run",
        "skep settings set models.default=PROVIDER/MODEL",
      ),
    );
  if (findings.length > 0) return findings;
  const named = [...new Set(uses.map(({ model }) => model))];
  return [ok("models", `${named.join(", ")}: the provider has what it needs`)];
}

const STATES: Readonly<Record<ModelUse["state"], string>> = {
  ready: "ready",
  off: "switched off",
  "not configured": "without a key or an address",
  "key refused": "refusing its key",
  unknown: "not known",
};
const REMEDIES: Readonly<Record<ModelUse["state"], string>> = {
  ready: "",
  off: "skep providers set PROVIDER --enable",
  "not configured": "skep providers set PROVIDER --key",
  "key refused": "skep providers set PROVIDER --key",
  unknown: "name one of: skep providers",
};
