/** Installs the service with launchd, as an agent of the user who runs the command. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { mustRun, refuse, runProgram } from "./commands.ts";
import { LAUNCHD_LABEL, launchdAgent } from "./launchd-agent.ts";
import type { ServiceManager, ServiceOptions } from "./service.ts";

const getLibrary = (): string => join(homedir(), "Library");
const dataOf = ({ data }: ServiceOptions): string => data ?? join(getLibrary(), "Application Support/Skep");
const getDomain = (): string => `gui/${process.getuid?.()}`;

function describe(options: ServiceOptions): { path: string; text: string } {
  const log = join(getLibrary(), "Logs/skep.log");
  const { executable, root } = options;
  return {
    path: `${root}${getLibrary()}/LaunchAgents/${LAUNCHD_LABEL}.plist`,
    text: launchdAgent({ executable, data: dataOf(options), log }),
  };
}

async function install(options: ServiceOptions): Promise<void> {
  if (process.getuid?.() === 0) throw refuse("An agent belongs to a user. Run this without sudo.");
  const { path, text } = describe(options);
  if (existsSync(path)) throw refuse(`${path} is there already. Remove it first: skep service remove`);
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(dataOf(options), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o644 });
  if (options.root !== "") return options.report({ path, started: false }, `Wrote ${path}.`);
  mustRun("launchctl", "bootstrap", getDomain(), path);
  options.report(
    { path, started: true, data: dataOf(options) },
    `Skep runs as a service. Its data is in ${dataOf(options)}. See: skep service status`,
  );
}

async function reportStatus(options: ServiceOptions): Promise<boolean> {
  const { code } = runProgram("launchctl", "print", `${getDomain()}/${LAUNCHD_LABEL}`);
  if (code !== 0) {
    options.report({ installed: false }, "There is no service. Install it: skep service install");
    return false;
  }
  const health = runProgram(options.executable, "health", "--data", dataOf(options));
  options.report(
    { installed: true, healthy: health.code === 0 },
    health.code === 0 ? health.stdout.trim() : "Its server does not answer.",
  );
  return health.code === 0;
}

async function remove(options: ServiceOptions): Promise<void> {
  const { path } = describe(options);
  if (!existsSync(path)) throw refuse(`There is no service: ${path} is not there.`);
  if (options.root === "") mustRun("launchctl", "bootout", `${getDomain()}/${LAUNCHD_LABEL}`);
  rmSync(path);
  options.report({ path, data: dataOf(options) }, `The service is removed. Your data stays in ${dataOf(options)}.`);
}

export const launchd: ServiceManager = { describe, install, reportStatus, remove };
