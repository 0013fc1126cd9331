/** `skep doctor`: checks everything that a server on this machine needs, and says how to fix what is wrong. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../core/config.ts";
import { LIMITS } from "../../core/limits.ts";
import { BUILD } from "../../core/version.ts";
import { unpackAddonsTo } from "../../process/addons.ts";
import { checkBounds, checkEngine, checkGit, checkServer, type Engine } from "./machine.ts";
import { findWorst, limitText, pass, type Report } from "./model.ts";
import { checkSecrets } from "./secrets.ts";
import { checkDatabase, checkDisk, checkFolder, checkKeys, wereContainersUsed } from "./storage.ts";

export interface DoctorDeps {
  config: Config;
  engine: Engine;
  /** The version of git; rejects when there is no git. */
  gitVersion(): Promise<string>;
  /** The server that works on the data folder, if one responds. */
  server(): Promise<{ url: string; pid: number } | undefined>;
}

export function createDoctor({ config, engine, gitVersion, server }: DoctorDeps) {
  return {
    /** Changes no data of the user. Problems are findings in the report; they are never thrown. */
    async examine(): Promise<Report> {
      const { data } = config;
      const cache = join(data, "cache");
      if (existsSync(cache)) unpackAddonsTo(cache);
      const [engineFindings, git, running] = await Promise.all([
        checkEngine(config, engine, wereContainersUsed(data)),
        checkGit(gitVersion),
        server(),
      ]);
      const findings = [
        pass("skep", `${BUILD.version} (${BUILD.commit}, ${BUILD.runtime}, ${BUILD.platform})`),
        ...checkServer(config, running),
        checkFolder(data),
        checkKeys(data),
        checkDisk(data),
        ...checkDatabase(data),
        checkSecrets(config),
        ...engineFindings,
        git,
        ...checkBounds(config),
      ];
      const limits = Object.entries(LIMITS).map(([name, value]) => ({ name, value, text: limitText(name, value) }));
      return { verdict: findWorst(findings), findings, limits };
    },
  };
}
