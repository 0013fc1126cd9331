/** Installs the service with systemd: a system service for root, a user service for everybody else. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Problem } from "../../core/errors.ts";
import { serverOfNamed } from "../server/server-file.ts";
import { mustRun, refuse, runProgram } from "./commands.ts";
import type { ServiceManager, ServiceOptions } from "./service.ts";
import { SYSUSERS, systemdUnit } from "./systemd-unit.ts";

const SERVICE = "skep.service";
/** Path of the unit in the Debian package. */
const PACKAGED = "/usr/lib/systemd/system/skep.service";
const SYSUSERS_FILE = "/etc/sysusers.d/skep.conf";
/** How long a new service may take until its server answers. */
const ANSWER_SECONDS = 60;

const isRoot = (): boolean => process.getuid?.() === 0;

/** Paths that the unit hides from the server. */
const HIDDEN = /^\/(home|root|tmp|var\/tmp|run\/user)\//;

interface Place {
  scope: "system" | "user";
  unit: string;
  data: string;
  environmentFile: string;
}

function placeOf({ data, root }: ServiceOptions): Place {
  if (isRoot() || root !== "")
    return {
      scope: "system",
      unit: `${root}/etc/systemd/system/${SERVICE}`,
      data: data ?? "/var/lib/skep",
      environmentFile: "/etc/skep.env",
    };
  const config = process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
  return {
    scope: "user",
    unit: join(config, "systemd/user", SERVICE),
    data: data ?? join(process.env["XDG_DATA_HOME"] || join(homedir(), ".local/share"), "skep"),
    environmentFile: join(config, "skep/skep.env"),
  };
}

function hasDockerGroup(root: string): boolean {
  const file = `${root}/etc/group`;
  return existsSync(file) && /^docker:/m.test(readFileSync(file, "utf8"));
}

function groupsOf({ docker, root }: ServiceOptions): string[] {
  return docker && hasDockerGroup(root) ? ["docker"] : [];
}

function describe(options: ServiceOptions): { path: string; text: string } {
  const { scope, unit, data, environmentFile } = placeOf(options);
  const { executable } = options;
  return { path: unit, text: systemdUnit({ executable, data, scope, groups: groupsOf(options), environmentFile }) };
}

/** The systemctl command for a service of this scope. */
function buildSystemctl({ scope }: Place, root: string): string[] {
  if (root !== "") return ["systemctl", `--root=${root}`];
  return scope === "user" ? ["systemctl", "--user"] : ["systemctl"];
}

function assertInstallable({ executable, root }: ServiceOptions, { scope, unit, data }: Place): void {
  if (Bun.which("systemctl") === null)
    throw refuse('This machine has no systemd. Start "skep serve" with what starts your other services.');
  if (root !== "") return;
  if (existsSync(PACKAGED) && scope === "system")
    throw refuse("The Debian package has installed the service already. Start it: systemctl enable --now skep");
  if (scope === "system" && !existsSync("/run/systemd/system"))
    throw refuse("systemd does not run here. To write the unit for later, use --root /; to read it, use --print.");
  if (scope === "system" && HIDDEN.test(executable))
    throw refuse(
      `The service's user cannot read ${executable}. Copy it first: install -m 755 ${executable} /usr/local/bin/skep`,
    );
  if (scope === "system" && HIDDEN.test(data))
    throw refuse(`The service cannot use ${data}: homes and /tmp are closed to it. Name another folder with --data.`);
  if (existsSync(unit)) throw refuse(`${unit} is there already. Remove it first: skep service remove`);
}

async function install(options: ServiceOptions): Promise<void> {
  const { root, report } = options;
  const place = placeOf(options);
  assertInstallable(options, place);
  const running = await serverOfNamed(place.data);
  if (running) throw refuse(`A server works on ${place.data} already (process ${running.pid}). Stop it first.`);
  const { path, text } = describe(options);
  if (place.scope === "system") makeUser(options);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o644 });
  const control = buildSystemctl(place, root);
  if (root !== "") {
    mustRun(...control, "enable", SERVICE);
    report({ path, started: false }, `Wrote ${path}. The service starts with the machine.`);
    return;
  }
  if (place.scope === "user") mkdirSync(place.data, { recursive: true, mode: 0o700 });
  mustRun(...control, "daemon-reload");
  mustRun(...control, "enable", "--now", SERVICE);
  const url = await waitUntilItAnswers(options, place);
  const words = `Skep runs as a service and answers at ${url}. Its data is in ${place.data}, its settings in ${place.environmentFile}.`;
  const more =
    place.scope === "user" ? "\nIt ends when you log out, unless you allow it to stay: loginctl enable-linger" : "";
  report({ path, started: true, url, data: place.data }, words + more);
}

/** Creates the service's user. Also creates its data folder, unless that is the default one, which systemd creates. */
function makeUser(options: ServiceOptions): void {
  const { root } = options;
  const file = root + SYSUSERS_FILE;
  const groups = groupsOf(options).map((group) => `m skep ${group}\n`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, SYSUSERS + groups.join(""), { mode: 0o644 });
  mustRun("systemd-sysusers", ...(root === "" ? [] : [`--root=${root}`]), file);
  const { data } = placeOf(options);
  if (root === "" && data !== "/var/lib/skep") mustRun("install", "-d", "-m", "700", "-o", "skep", "-g", "skep", data);
}

/** Asks for health as the service's user, because only that user may read where the server listens. */
function askHealth({ executable }: ServiceOptions, { scope, data }: Place) {
  const command = [executable, "health", "--data", data];
  return scope === "system" ? runProgram("runuser", "-u", "skep", "--", ...command) : runProgram(...command);
}

async function waitUntilItAnswers(options: ServiceOptions, place: Place): Promise<string> {
  const control = buildSystemctl(place, "");
  for (let second = 0; second < ANSWER_SECONDS; second++) {
    const { code, stdout } = askHealth(options, place);
    if (code === 0) return stdout.split(" ")[0] ?? "";
    if (runProgram(...control, "is-failed", "--quiet", SERVICE).code === 0) break;
    await Bun.sleep(1_000);
  }
  const logs = place.scope === "user" ? "journalctl --user -u skep" : "journalctl -u skep";
  throw new Problem(422, "service_failed", `The service was installed, but its server does not answer. See: ${logs}`);
}

async function reportStatus(options: ServiceOptions): Promise<boolean> {
  const place = placeOf(options);
  const shown = runProgram(
    ...buildSystemctl(place, ""),
    "show",
    SERVICE,
    "--property=LoadState,ActiveState,UnitFileState,NRestarts",
  );
  if (shown.code !== 0) throw refuse(`systemd does not answer: ${shown.stderr}`);
  const facts = new Map(shown.stdout.split("\n").map((line) => line.split("=", 2) as [string, string]));
  if (facts.get("LoadState") !== "loaded") {
    options.report({ installed: false }, "There is no service. Install it: skep service install");
    return false;
  }
  const { code, stdout } = askHealth(options, place);
  const [state, enabled, restarts] = ["ActiveState", "UnitFileState", "NRestarts"].map((name) => facts.get(name) ?? "");
  const again = restarts === "0" ? "" : `, restarted ${restarts === "1" ? "once" : `${restarts} times`}`;
  const answer = code === 0 ? stdout.trim() : "Its server does not answer.";
  const outcome = { installed: true, state, enabled, restarts: Number(restarts), healthy: code === 0 };
  options.report(outcome, `${state}, ${enabled} at boot${again}\n${answer}`);
  return code === 0;
}

async function remove(options: ServiceOptions): Promise<void> {
  const place = placeOf(options);
  const { root, report } = options;
  if (!existsSync(place.unit))
    throw refuse(
      existsSync(PACKAGED) && root === ""
        ? "The service belongs to the Debian package. Remove it with: apt remove skep"
        : `There is no service: ${place.unit} is not there.`,
    );
  const control = buildSystemctl(place, root);
  mustRun(...control, "disable", ...(root === "" ? ["--now"] : []), SERVICE);
  rmSync(place.unit);
  if (place.scope === "system") rmSync(root + SYSUSERS_FILE, { force: true });
  if (root === "") mustRun(...control, "daemon-reload");
  report(
    { path: place.unit, data: place.data },
    `The service is removed. Your data stays in ${place.data}; remove it with: rm -rf ${place.data}`,
  );
}

export const systemd: ServiceManager = { describe, install, reportStatus, remove };
