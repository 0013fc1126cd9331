/** The features' findings for `skep doctor`, read from a data folder without a running server. Changes nothing. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { createCatalogue } from "../adapter/model/catalogue.ts";
import { listModels } from "../adapter/model/live-models.ts";
import { normalizeBaseUrl, providerEntry, splitModel } from "../adapter/model/providers.ts";
import { systemClock } from "../core/clock.ts";
import type { Config } from "../core/config.ts";
import { messageOf } from "../core/errors.ts";
import { createSealer } from "../core/sealing.ts";
import { parseAgentFile } from "../engine/agent-file.ts";
import { type Finding, checkFiles as filesFinding, warn } from "../feature/doctor/model.ts";
import { modelFindings } from "../feature/engine/checks.ts";
import { createProviderKeys } from "../feature/providers/keys.ts";
import { createProviders, providerOverrides } from "../feature/providers/service.ts";
import { createSettings } from "../feature/settings/service.ts";
import { createAudit } from "../store/audit.ts";
import { databasePath, openStoreToRead, type Store } from "../store/store.ts";
import { checkFiles } from "./check-files.ts";

const KINDS = [
  ["agents", "agent"],
  ["pipelines", "pipeline"],
  ["skills", "skill"],
] as const;

/** Findings about the team's files, and about the models named in settings and agents. */
export function offlineChecks(config: Config): Finding[] {
  const folder = join(config.data, "agents");
  if (!existsSync(folder))
    return [unknownModels("nothing is set up in this data folder yet", "skep init, or skep serve")];
  const files = checkFiles([folder]);
  const ofFiles = KINDS.map(([what, kind]) =>
    filesFinding(
      what,
      files
        .filter((one) => one.kind === kind)
        .map(({ file, problems }) => ({ file: relative(folder, file), problems })),
    ),
  );
  return [...modelsOf(config, folder), ...ofFiles];
}

const unknownModels = (detail: string, remedy: string): Finding => warn("models", detail, remedy);

function modelsOf(config: Config, folder: string): Finding[] {
  const path = databasePath(config.data);
  if (!existsSync(path)) return [unknownModels("no server has worked on this data folder yet", "skep serve")];
  let store: Store | undefined;
  try {
    store = openStoreToRead(path, systemClock);
    return modelFindings({ ...servicesOver(store, config), agents: { files: () => agentsIn(folder) } });
  } catch (error) {
    // A damaged database, or one of another version, has its own finding.
    return [unknownModels(`cannot be read from the database: ${messageOf(error)}`, "skep serve")];
  } finally {
    store?.close();
  }
}

function servicesOver(store: Store, { providerEnv, authRequired }: Config) {
  const clock = systemClock;
  const audit = createAudit(store, clock);
  const isProvider = (id: string) => providerEntry(id) !== undefined;
  // Nothing is changed here, so the folder needs no check.
  const settings = createSettings({ store, clock, audit, isProvider, assertBackupFolder: () => {} });
  const overrides = providerOverrides(store, (id) => providerEntry(id)?.priceId !== undefined);
  const catalogue = createCatalogue({ clock, overrides });
  const own = {
    store,
    clock,
    audit,
    catalogue,
    providerEnv,
    normalizeBaseUrl,
    splitModel,
    // Keys are not decrypted here: another check tests that they can be.
    sealer: createSealer(() => new Uint8Array(32)),
    localUser: !authRequired,
    defaultModel: settings.defaultModel,
    listModels: (endpoint: Parameters<typeof listModels>[0]) => listModels(endpoint, { clock }),
    keyChanged: () => {},
    isRefused: () => false,
  };
  const providers = createProviders({ ...own, keys: createProviderKeys(own) });
  return { settings, providers };
}

function agentsIn(folder: string) {
  return readdirSync(folder)
    .map((id) => ({ id, file: join(folder, id, "AGENT.md") }))
    .filter(({ file }) => existsSync(file))
    .map(({ id, file }) => {
      const { agent, problems } = parseAgentFile(id, readFileSync(file, "utf8"));
      const { model, fallback } = agent.config;
      return { id, file, model: model ?? null, fallback: fallback ?? [], enabled: agent.enabled, problems };
    });
}
