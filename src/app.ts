/**
 * Puts the server together: the parts below every feature, the features, then HTTP. Features live in their own folders.
 */
import { createGit } from "./adapter/git.ts";
import { createAgentImages } from "./adapter/sandbox/docker/agent-image.ts";
import { createImages } from "./adapter/sandbox/docker/image.ts";
import type { FeatureList } from "./app/compose.ts";
import { engineOf, openCore, type Replacements } from "./app/core.ts";
import { FEATURES, type ProductServices } from "./app/features.ts";
import { apiOf, openHttp } from "./app/http.ts";
import type { Config } from "./core/config.ts";
import { createDoctor, type DoctorDeps } from "./feature/doctor/service.ts";
import { asDamage } from "./store/damage.ts";

export { checkFiles } from "./app/check-files.ts";
export { offlineChecks } from "./app/offline-checks.ts";
export { openLostAccess } from "./feature/auth/lost-access.ts";
export { restoreBackup, writeBackup } from "./store/backup.ts";
export { markRestored } from "./store/identity.ts";

export type App = Awaited<ReturnType<typeof createApp>>;

/** The agents' images, for commands that need no server. */
export const openImages = (config: Config) => createImages({ docker: engineOf(config) });

/** Checks what a server needs. `server` finds the running server. */
export const openDoctor = (config: Config, server: DoctorDeps["server"]) =>
  createDoctor({
    config,
    engine: doctorsEngine(config),
    gitVersion: createGit({ env: config.hostEnv }).version,
    server,
  });

function doctorsEngine(config: Config) {
  const docker = engineOf(config);
  return { ...docker, canMake: createAgentImages({ docker, pull: config.imagePull }).canMake };
}

export interface AppOptions extends Replacements {
  /** The product's features, plus those that a test adds. */
  features?: FeatureList<ProductServices>;
}

/**
 * Creates everything except HTTP, without starting it. `close` releases it. @throws Problem when a part cannot be
 * opened.
 */
export async function openHouse(config: Config, { features = FEATURES, ...replaced }: AppOptions = {}) {
  const core = openCore(config, replaced);
  try {
    const api = apiOf(core);
    const house = await features.create(core, api);
    return {
      core,
      api,
      services: house.services,
      contributions: house.contributions,
      async start() {
        await house.start();
        core.clockwork.start();
      },
      resume: house.resume,
      async stop() {
        core.clockwork.stop();
        await house.stop();
      },
      async close() {
        await house.close();
        await core.close();
      },
    };
  } catch (error) {
    await core.close();
    throw error;
  }
}

/** How long `resume` waits, in ms, so that a new server can first answer whether it is healthy. */
const RESUME_MS = 10;

/** Opens everything and listens. @throws Problem with the remedy when a part cannot start; nothing stays open then. */
export async function createApp(config: Config, options: AppOptions = {}) {
  const { core, api, services, contributions, ...house } = await openHouse(config, options);
  const opened = [house.close];
  const stop = async (): Promise<void> => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    const http = openHttp(core, api, services);
    opened.push(http.stop, house.stop);
    await house.start();
    const resumed = Bun.sleep(RESUME_MS).then(async () => {
      if (opened.length > 0) await house.resume();
    });
    const setupToken = services.accounts.setup.tokenToShow();
    const standby = core.standby.since() !== null;
    return { config, isNew: core.folder.isNew, standby, setupToken, services, contributions, ...http, resumed, stop };
  } catch (error) {
    await stop();
    throw asDamage(error);
  }
}
