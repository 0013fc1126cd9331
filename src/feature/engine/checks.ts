/** Checks for `skep doctor` whether agents can work: whether models can be called, and whether sandboxes can start. */
import { splitModel } from "../../adapter/model/providers.ts";
import type { ModelWindows } from "../../adapter/model/window-advice.ts";
import { messageOf } from "../../core/errors.ts";
import { HARNESS_IMAGE } from "../../core/harness-names.ts";
import { type LabeledHost, lackOfHost } from "../../core/host-labels.ts";
import type { AgentSummary, Agents } from "../agents/service.ts";
import { type Finding, fail, folderFindings, imageFinding, pass, warn } from "../doctor/model.ts";
import type { Core } from "../feature.ts";
import type { SettingsService } from "../settings/service.ts";
import type { Sandboxes } from "./sandboxes.ts";

interface ModelUse {
  /** In the form provider/model. */
  model: string;
  /** Where the model is named: `the settings`, or an agent. */
  by: string;
  /** The state of the model's provider. */
  state: "ready" | "off" | "not configured" | "key refused" | "unknown";
  /** Whether the model is asked only when another one does not answer. */
  isFallback?: boolean;
}

const INIT = "skep init, or: skep providers set PROVIDER --key --default PROVIDER/MODEL";

/**
 * @param uses models that the settings and agents name.
 * @param isConfigured whether a provider other than the scripted one is configured.
 */
export function checkModels(uses: readonly ModelUse[], hasDefault: boolean, isConfigured: boolean): Finding[] {
  if (!isConfigured)
    return [fail("models", "no provider is set up: only demo/scripted plays, a transcript and no AI", INIT)];
  const bad = uses.filter(({ state }) => state !== "ready");
  const findings = bad.map(({ model, by, state, isFallback }) =>
    (isFallback ? warn : fail)(
      "models",
      `${model}, which ${by} names, cannot be called: its provider is ${STATES[state]}`,
      REMEDIES[state],
    ),
  );
  if (!hasDefault)
    findings.push(
      fail(
        "models",
        "no default model is set; agents that name none cannot run",
        "skep settings set models.default=PROVIDER/MODEL",
      ),
    );
  if (findings.length > 0) return findings;
  const named = [...new Set(uses.map(({ model }) => model))];
  return [pass("models", `${named.join(", ")}: the provider has what it needs`)];
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

interface ModelNeeds {
  settings: Pick<SettingsService, "get">;
  providers: { anyConfigured(): boolean; stateOf(id: string): ModelUse["state"] };
  agents: { files(): readonly Pick<AgentSummary, "id" | "model" | "fallback" | "enabled">[] };
}

type NamedModel = Omit<ModelUse, "state">;
const fallbackOf = (models: readonly string[], by: string): NamedModel[] =>
  models.map((model) => ({ model, by, isFallback: true }));

/** The models that the settings name for answers, and those that enabled agents name. */
function namedModels({ settings, agents }: Pick<ModelNeeds, "settings" | "agents">): NamedModel[] {
  const { default: usual, fallback, embedding: _, ...purposes } = settings.get().models;
  const named = Object.entries(purposes).flatMap(([purpose, model]) =>
    model === null || model === usual ? [] : [{ model, by: `models.${purpose} of the settings` }],
  );
  const own = agents.files().flatMap(({ id, model, fallback: spare, enabled }) => {
    const by = `agent ${id}`;
    return enabled ? [...(model === null ? [] : [{ model, by }]), ...fallbackOf(spare, by)] : [];
  });
  const first = usual === null ? [] : [{ model: usual, by: "the settings" }];
  return [...first, ...named, ...own, ...fallbackOf(fallback, "models.fallback of the settings")];
}

/** How long a model's server may take to report its context window, ms. */
const WINDOW_MS = 5_000;
/** How many models are asked for their context window. */
const WINDOWS_MOST = 40;

/** Warns of self-hosted models whose context window is too small. The check loads no model. */
export async function windowFindings(deps: ModelNeeds & { providers: { windowOf: ModelWindows } }): Promise<Finding[]> {
  const models = [...new Set(namedModels(deps).map(({ model }) => model))];
  const isReady = (model: string) => deps.providers.stateOf(splitModel(model)?.provider ?? "") === "ready";
  const ready = models.filter(isReady).slice(0, WINDOWS_MOST);
  const signal = AbortSignal.timeout(WINDOW_MS);
  const found = await Promise.all(ready.map((model) => deps.providers.windowOf(model, { mayLoad: false, signal })));
  return found.flatMap((window) =>
    window?.advice ? [warn("window", `${window.model}: ${window.advice}`, "see docs/local-models.md")] : [],
  );
}

export function modelFindings({ settings, providers, agents }: ModelNeeds): Finding[] {
  const { models } = settings.get();
  const named = namedModels({ settings, agents });
  const uses = named.map((use) => ({ ...use, state: providers.stateOf(splitModel(use.model)?.provider ?? "") }));
  return checkModels(uses, (models.pipeline ?? models.default) !== null, providers.anyConfigured());
}

type SandboxNeeds = Pick<Core, "config" | "docker"> & { settings: Pick<SettingsService, "get"> };

/** Whether agents can work in the kind of sandbox that this server chose when it started. */
export async function checkSandboxes(
  { config, docker, settings }: SandboxNeeds,
  { driver, canMakeImage, check, hosts }: Pick<Sandboxes, "driver" | "canMakeImage" | "check" | "hosts">,
): Promise<Finding[]> {
  if (check) return await checkCluster(check);
  if (driver.capabilities.isolation === "none") return [await checkProcesses(config.allowHostShell, docker)];
  const carried = driver.capabilities.files === "carried" ? ", their files are carried to the engine and back" : "";
  const kind = pass("sandbox", `${driver.name}: agents work in containers${carried}`);
  if (hosts) return [kind, ...hostFindings(await hosts.look())];
  if (!docker) return [kind];
  const image = settings.get().sandbox.image ?? config.agentImage;
  try {
    const [present, makeable] = await Promise.all([docker.images.inspect(image), canMakeImage(image)]);
    return [
      kind,
      pass("container engine", `answers at ${docker.address}`),
      ...folderFindings(config),
      imageFinding(image, { present: present !== undefined, makeable, pull: config.imagePull }),
    ];
  } catch (error) {
    return [
      kind,
      fail("container engine", `${messageOf(error)} Runs wait for it.`, "start it; what waits continues by itself"),
    ];
  }
}

/** A failure only if no host both answers and is not drained; otherwise work goes on. */
function hostFindings(hosts: Awaited<ReturnType<NonNullable<Sandboxes["hosts"]>["look"]>>): Finding[] {
  const gone = hosts.every(({ away, drained }) => drained || away !== undefined);
  return hosts.map(({ name, slots, used, away, drained }) => {
    if (drained) {
      const detail = `${name}: drained, ${used} of ${slots} sandboxes still there`;
      return gone
        ? fail("host", `${detail}. Runs wait for a host.`, `skep hosts enable ${name}`)
        : pass("host", detail);
    }
    if (away === undefined) return pass("host", `${name}: answers, ${used} of ${slots} sandboxes`);
    const remedy = "start it, or take it out of DOCKER_HOSTS; it is used as soon as it answers";
    return gone ? fail("host", `${name}: ${away} Runs wait for it.`, remedy) : warn("host", `${name}: ${away}`, remedy);
  });
}

/** Agents that require labels that no host has: their work would wait. */
export function labelFindings(agents: Pick<Agents, "files">, hosts: readonly LabeledHost[]): Finding[] {
  return agents.files().flatMap(({ id, enabled, hostLabels }) => {
    const lack = enabled ? lackOfHost(hosts, hostLabels) : undefined;
    const remedy = "give a host in DOCKER_HOSTS the labels, or take them out of the agent's file";
    return lack === undefined ? [] : [fail("host", `agent ${id} cannot work: ${lack}`, remedy)];
  });
}

async function checkCluster(check: NonNullable<Sandboxes["check"]>): Promise<Finding[]> {
  try {
    const { detail, pools } = await check();
    const remedy = "see docs/kubernetes.md, Warm pools; until then Pods are made as without it";
    return [
      pass("sandbox", `kubernetes: ${detail}`),
      ...pools.map((pool) => (pool.isUsed ? pass("warm pool", pool.detail) : warn("warm pool", pool.detail, remedy))),
    ];
  } catch (error) {
    return [
      fail("sandbox", `kubernetes: ${messageOf(error)}`, "see docs/kubernetes.md; what waits continues by itself"),
    ];
  }
}

/** External agents whose image is not on this machine: their work would wait for the image. */
export async function harnessFindings({
  docker,
  agents,
}: Pick<Core, "docker"> & { agents: Pick<Agents, "files"> }): Promise<Finding[]> {
  const images = new Map<string, string[]>();
  for (const { id, enabled, harness, image } of agents.files()) {
    if (!enabled || harness === "builtin") continue;
    const own = typeof harness === "string" ? undefined : harness.image;
    const name = image ?? own ?? HARNESS_IMAGE;
    images.set(name, [
      ...(images.get(name) ?? []),
      `${id} (${typeof harness === "string" ? harness : harness.acp[0]})`,
    ]);
  }
  if (!docker || images.size === 0) return [];
  try {
    const all = [...images].map(async ([image, users]) => {
      if (await docker.images.inspect(image)) return pass("harness", `${image} is there, for ${users.join(", ")}`);
      return fail(
        "harness",
        `${image} is not on this engine, and ${users.join(", ")} cannot work without it`,
        MAKE_ONE,
      );
    });
    return await Promise.all(all);
  } catch {
    // The check of the container engine already reports that it does not answer.
    return [];
  }
}

const MAKE_ONE = "skep image build --harness NAME";

async function checkProcesses(hostShell: boolean, docker: Core["docker"]): Promise<Finding> {
  const detail = `process: ${hostShell ? "commands run on this host" : "agents have files, but no commands"}`;
  const ping = docker?.ping().then(
    () => true,
    () => false,
  );
  return (await ping)
    ? warn("sandbox", `${detail}; a container engine answers since the start`, "restart the server")
    : pass("sandbox", detail);
}
