/** `skep update`: looks for a newer version, installs one from a file or an address, or returns to the previous one. */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { readConfig } from "../core/config.ts";
import { badUsage } from "../core/errors.ts";
import { RELEASE_KEY } from "../core/release-key.ts";
import { compareVersions } from "../core/update-manifest.ts";
import { BUILD } from "../core/version.ts";
import { installUpdate, previousPath, readManifest, rollBack } from "./install-update.ts";
import { assertPath } from "./read-input.ts";
import { runningServer } from "./server/server-file.ts";

interface Flags {
  from?: string;
  check?: boolean;
  rollback?: boolean;
  force?: boolean;
  json?: boolean;
  executable?: string;
  healthSeconds: string;
  data?: string;
}

export function updateCommand(program: Command, exit: (code: number) => void): void {
  program
    .command("update")
    .description("install a newer version, or go back to the previous one")
    .option("--from <place>", "manifest: a file, a folder with update.json, or an address (env: UPDATE_CHECK_URL)")
    .option("--check", "only check whether there is a newer version; exit 1 when there is")
    .option("--rollback", "go back to the version that the last update replaced")
    .option("--force", "install the version even if it is older or the same")
    .option("--executable <path>", "executable to replace (default: the one that runs this command)")
    .option("--health-seconds <n>", "seconds that the new version may take to answer, from 1 to 3600", "60")
    .option("--json", "print JSON instead of text")
    .option("--data <dir>", "data folder; its server, if running, has to be restarted (env: DATA; default: ./data)")
    .action(async (flags: Flags) => exit(await update(flags)));
}

/** @returns the exit code. */
async function update(flags: Flags): Promise<number> {
  const say = flags.json ? () => {} : console.log;
  const printJson = (result: Record<string, unknown>) => flags.json && console.log(JSON.stringify(result));
  const config = readConfig(process.env, { data: flags.data });
  const executable = flags.executable ?? (BUILD.compiled ? process.execPath : undefined);
  if (executable === undefined && !flags.check) throw badUsage("This runs from source. Name a file with --executable.");
  if (flags.rollback && executable) {
    rollBack(executable);
    say("The previous version is back in place.");
    printJson({ rolled_back: true, executable });
    return sayRestart(config.data, say);
  }
  const source = flags.from ?? config.updateCheckUrl;
  if (source === undefined)
    throw badUsage("Where from? Name a manifest with --from FILE or --from ADDRESS, or set UPDATE_CHECK_URL.");
  assertPath(source);
  const publicKey = config.updatePublicKey ?? RELEASE_KEY;
  if (flags.check) {
    const { manifest } = await readManifest(source, publicKey);
    const newer = compareVersions(manifest.version, BUILD.version) > 0;
    printJson({ current: BUILD.version, latest: manifest.version, update_available: newer, url: manifest.notes_url });
    say(newer ? `${manifest.version} is available; this is ${BUILD.version}.` : `${BUILD.version} is up to date.`);
    if (newer && manifest.notes_url) say(manifest.notes_url);
    return newer ? 1 : 0;
  }
  if (isPackaged(executable!))
    throw badUsage(
      "The Debian package installed this executable. Download the new package: apt install ./skep_VERSION.deb",
    );
  const seconds = Number(flags.healthSeconds);
  if (!(seconds >= 1 && seconds <= 3_600)) throw badUsage("--health-seconds accepts a number from 1 to 3600.");
  const installed = await installUpdate({
    source,
    executable: executable!,
    current: BUILD.version,
    platform: BUILD.platform,
    publicKey,
    force: flags.force ?? false,
    healthMs: seconds * 1_000,
    say,
  });
  printJson({ current: BUILD.version, installed, previous: installed === null ? null : previousPath(executable!) });
  if (installed === null) {
    say(`${BUILD.version} is installed already.`);
    return 0;
  }
  say(`Version ${installed} is installed; the previous one is kept at ${previousPath(executable!)}.`);
  return sayRestart(config.data, say);
}

/** Whether dpkg owns the file: it would put its own version back at the next upgrade. */
const isPackaged = (executable: string): boolean =>
  executable === "/usr/bin/skep" && existsSync("/var/lib/dpkg/info/skep.list");

async function sayRestart(data: string, say: (text: string) => void): Promise<number> {
  if (await runningServer(data)) say("A server is still running the old version. Restart it to use the new one.");
  return 0;
}
