/** Options of the configuration for agents that work in containers of Docker or Podman. */
import { choiceOption, list, option, optional, text } from "./config-option.ts";
import { isHostLabel } from "./host-labels.ts";

/** One container engine of several, as `DOCKER_HOSTS` lists them. */
export interface DockerHost {
  name: string;
  /** Address in the format of DOCKER_HOST. */
  address: string;
  /** The most sandboxes at once. */
  slots: number;
  /** Labels by which agents and projects choose the host. */
  labels: string[];
  /** Folder with ca.pem, cert.pem and key.pem. */
  tls: string | undefined;
}

const DEFAULT_SLOTS = 8;
const MAX_HOSTS = 50;
const MAX_LABELS = 20;

/**
 * Splits a list whose entries may contain commas in their labels: a part without an address continues the labels before
 * it.
 */
function entriesOf(value: string): string[] {
  const entries: string[] = [];
  for (const part of list(value) ?? []) {
    const lastWord = entries.at(-1)?.split(/\s+/).at(-1);
    if (lastWord?.startsWith("labels=") && !part.includes("://")) entries[entries.length - 1] += `,${part}`;
    else entries.push(part);
  }
  return entries;
}

/**
 * Parses entries of the form `[name=]address [slots=N] [labels=a,b] [tls=/folder]`. Undefined when one is invalid, a
 * name occurs twice, or there are too many.
 */
export function readDockerHosts(entries: readonly string[]): DockerHost[] | undefined {
  const hosts = entries.map(readHost);
  const found = hosts.filter((host) => host !== undefined);
  const names = new Set(found.map(({ name }) => name));
  const isSound = found.length === hosts.length && names.size === hosts.length && hosts.length <= MAX_HOSTS;
  return isSound ? found : undefined;
}

function readHost(entry: string): DockerHost | undefined {
  const [first = "", ...settings] = entry.split(/\s+/);
  const [, given, address = ""] =
    /^(?:([a-z0-9][a-z0-9-]{0,39})=)?((?:unix|ssh|tcp|https?):\/\/\S+)$/.exec(first) ?? [];
  const host: DockerHost = {
    name: given ?? nameOf(address),
    address,
    slots: DEFAULT_SLOTS,
    labels: [],
    tls: undefined,
  };
  if (address === "") return undefined;
  for (const setting of settings) {
    const [, key, is = ""] = /^(slots|labels|tls)=(\S+)$/.exec(setting) ?? [];
    if (key === undefined) return undefined;
    if (key === "tls") host.tls = is;
    else if (key === "labels") {
      host.labels = is.split(",");
      if (host.labels.length > MAX_LABELS || !host.labels.every(isHostLabel)) return undefined;
    } else if (/^[1-9]\d{0,3}$/.test(is)) host.slots = Number(is);
    else return undefined;
  }
  return host;
}

const nameOf = (address: string): string => URL.parse(address)?.hostname || "local";

export const DOCKER_OPTIONS = {
  sandboxWorkspace: choiceOption(
    "SANDBOX_WORKSPACE",
    "How containers get their files: the engine mounts the data folder, or the server copies the files.",
    "mounted",
    "detached",
  ),
  dockerHost: optional(
    "DOCKER_HOST",
    "Address of the Docker engine, e.g. unix:///var/run/docker.sock.",
    "a unix://, ssh://, tcp:// or http:// address",
    (v) => (/^(unix|ssh|tcp|https?):\/\//.test(v) ? v : undefined),
  ),
  dockerCertPath: optional(
    "DOCKER_CERT_PATH",
    "Folder with ca.pem, cert.pem and key.pem, for a Docker engine over TLS.",
    "a path",
    text,
  ),
  dockerHosts: option<string[]>({
    env: "DOCKER_HOSTS",
    about: "Container engines that agents work on, if there are several; needs SANDBOX_WORKSPACE=detached.",
    accepts: "[name=]address [slots=N] [labels=A,B] [tls=FOLDER], separated by commas, each name once",
    default: [],
    read: (v) => {
      const entries = entriesOf(v);
      return readDockerHosts(entries) && entries;
    },
  }),
};
