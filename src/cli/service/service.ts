/** `skep service install|status|remove`: a server that starts with the machine, managed by systemd or launchd. */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { badUsage } from "../../core/errors.ts";
import { BUILD } from "../../core/version.ts";
import { launchd } from "./launchd.ts";
import { systemd } from "./systemd.ts";

export interface ServiceOptions {
  /** Absolute path of the executable that the service runs. */
  executable: string;
  /** Absolute path; undefined: the service manager's default folder. */
  data: string | undefined;
  /** Whether the service's user joins the group `docker`. */
  docker: boolean;
  /** Write below this folder and start nothing, to prepare an image. */
  root: string;
  /** Prints words for a person, or the outcome as JSON. */
  report(outcome: Record<string, unknown>, words: string): void;
}

export interface ServiceManager {
  /** The service's definition and the path of its file. */
  describe(options: ServiceOptions): { path: string; text: string };
  /** Writes the definition, starts the service and waits until the server answers. @throws Problem with the remedy. */
  install(options: ServiceOptions): Promise<void>;
  /** @returns whether the service runs and the server answers. */
  reportStatus(options: ServiceOptions): Promise<boolean>;
  /** Stops the service and removes its definition; the data stays. */
  remove(options: ServiceOptions): Promise<void>;
}

interface Flags {
  data?: string;
  docker?: boolean;
  root?: string;
  print?: boolean;
  executable?: string;
  json?: boolean;
}

export function serviceCommands(program: Command, exit: (code: number) => void): void {
  const service = program
    .command("service")
    .description("install, check or remove the server as a service of this machine");
  const addCommand = (name: string, about: string) =>
    service
      .command(name)
      .description(about)
      .option("--data <dir>", "data folder (default: /var/lib/skep as root, else one in your home folder)")
      .addOption(new Option("--executable <path>", "executable to run (default: this one)").hideHelp())
      .option("--json", "print JSON instead of text");

  addCommand("install", "install the service and start it: as root for the machine, else for your user")
    .option("--no-docker", "do not add the service's user to the group docker")
    .option("--root <dir>", "write the files below this folder and start nothing; for building system images")
    .option("--print", "only print the definition of the service")
    .action(async (flags: Flags) => {
      const options = optionsOf(flags);
      const manager = pickManager();
      if (flags.print) process.stdout.write(manager.describe(options).text);
      else await manager.install(options);
    });
  addCommand("status", "check whether the service runs and its server answers; exit 1 when not").action(
    async (flags: Flags) => exit((await pickManager().reportStatus(optionsOf(flags))) ? 0 : 1),
  );
  addCommand("remove", "stop and remove the service; the data stays")
    .option("--root <dir>", "remove the files that install wrote below this folder")
    .action(async (flags: Flags) => await pickManager().remove(optionsOf(flags)));
}

function optionsOf({ data, docker = true, root = "", executable, json }: Flags): ServiceOptions {
  const run = executable ?? (BUILD.compiled ? process.execPath : undefined);
  if (run === undefined) throw badUsage("This runs from source. Name the executable with --executable.");
  return {
    executable: resolve(run),
    data: data === undefined ? undefined : resolve(data),
    docker,
    root: root === "" ? "" : resolve(root),
    report: (outcome, words) => console.log(json ? JSON.stringify(outcome) : words),
  };
}

const pickManager = (): ServiceManager => (process.platform === "darwin" ? launchd : systemd);
