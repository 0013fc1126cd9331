/**
 * Configuration: one table of options. Each has an environment variable and a flag of the same name
 * (`AGENT_IMAGE`, `--agent-image`); a flag beats the environment, the environment the default. Read once, passed on.
 */

import { resolve } from "node:path";
import { flagged, headerPairs, integer, list, type Option, option, text, url, worded } from "./config-option.ts";
import { DOCKER_OPTIONS } from "./docker-options.ts";
import { isEmail, normalEmail } from "./email.ts";
import { Problem } from "./errors.ts";
import { KUBERNETES_OPTIONS } from "./kubernetes-options.ts";
import { PREVIEW_OPTIONS } from "./preview-options.ts";
import { entriesOf, keysOf, recordOf } from "./typed-keys.ts";

/** Shorter keys can be guessed: they are accepted on a loopback address only. */
const KEY_CHARACTERS_MIN = 16;

export const OPTIONS = {
  data: option<string>({
    env: "DATA",
    about: "Folder of all state.",
    accepts: "a path",
    default: "./data",
    read: text,
  }),
  host: option<string>({
    env: "HOST",
    about: "Address to listen on.",
    accepts: "a host name or address",
    default: "127.0.0.1",
    read: text,
  }),
  port: option<number>({
    env: "PORT",
    about: "Port to listen on; 0 takes a free one.",
    accepts: "a whole number from 0 to 65535",
    default: 8000,
    read: integer(0, 65_535),
  }),
  publicUrl: option<string | undefined>({
    env: "PUBLIC_URL",
    about: "Address that browsers and agents reach this server under.",
    accepts: "an http or https address",
    default: undefined,
    read: url,
  }),
  ...PREVIEW_OPTIONS,
  authEnabled: flagged(
    "AUTH_ENABLED",
    "Ask for credentials. Unset: off where only this machine gets in (a loopback address, no proxy), else on.",
    undefined,
  ),
  engineInternalToken: option<string | undefined>({
    env: "ENGINE_INTERNAL_TOKEN",
    about: "Service-level key; 32 random bytes, URL-safe.",
    accepts: "at least 16 characters",
    default: undefined,
    read: text,
    secret: true,
  }),
  secretEncryptionKey: option<string | undefined>({
    env: "SECRET_ENCRYPTION_KEY",
    about: "Key of stored secrets; 64 hexadecimal digits.",
    accepts: "64 hexadecimal digits, or at least 16 characters",
    default: undefined,
    read: text,
    secret: true,
  }),
  secretKeyEphemeral: flagged("SECRET_KEY_EPHEMERAL", "Keep a generated secrets key in memory only.", false),
  allowedHosts: option<string[]>({
    env: "ALLOWED_HOSTS",
    about: "Further Host headers to answer to.",
    accepts: "names, separated by commas",
    default: [],
    read: list,
  }),
  corsOrigins: option<string[]>({
    env: "CORS_ORIGINS",
    about: "Foreign web origins that may call the API.",
    accepts: "origins, separated by commas",
    default: [],
    read: list,
  }),
  trustedProxies: option<string[]>({
    env: "TRUSTED_PROXIES",
    about: "Addresses or networks whose X-Forwarded-* headers count.",
    accepts: "addresses or CIDR networks, separated by commas",
    default: [],
    read: list,
  }),
  rateLimit: option<number>({
    env: "RATE_LIMIT",
    about: "Requests a minute of one user or address; 0 sets no limit.",
    accepts: "a whole number from 0 to 1000000",
    default: 6_000,
    read: integer(0, 1_000_000),
  }),
  sandbox: worded("SANDBOX", "Where agents work.", "auto", "docker", "kubernetes", "process"),
  ...DOCKER_OPTIONS,
  ...KUBERNETES_OPTIONS,
  agentImage: option<string>({
    env: "AGENT_IMAGE",
    about: "Container image of agents that name none; any image with sh.",
    accepts: "an image name",
    default: "skep/agent:latest",
    read: text,
  }),
  imagePull: flagged("IMAGE_PULL", "Pull a missing agent image.", true),
  agentToken: worded(
    "AGENT_TOKEN",
    "Token inside containers: one of this execution, or the instance's own.",
    "execution",
    "shared",
  ),
  agentApiUrl: option<string | undefined>({
    env: "AGENT_API_URL",
    about: "Address under which containers reach this server; unset: they get none.",
    accepts: "an http or https address",
    default: undefined,
    read: url,
  }),
  allowHostShell: flagged("ALLOW_HOST_SHELL", "Let agents run commands on this host in the process sandbox.", false),
  allowLocalRepositories: flagged(
    "ALLOW_LOCAL_REPOSITORIES",
    "Let projects clone from paths of this host. Unset: only where this machine alone gets in, without credentials.",
    undefined,
  ),
  fetchAllow: option<string[]>({
    env: "FETCH_ALLOW",
    about: "Private addresses that agents may fetch.",
    accepts: "host names, addresses or CIDR networks, separated by commas",
    default: [],
    read: list,
  }),
  notifyAllow: option<string[]>({
    env: "NOTIFY_ALLOW",
    about: "Private addresses that notifications may be sent to. FETCH_ALLOW does not open them.",
    accepts: "host names, addresses or CIDR networks, separated by commas",
    default: [],
    read: list,
  }),
  maxExecutions: option<number>({
    env: "MAX_EXECUTIONS",
    about: "Executions at once.",
    accepts: "a whole number from 1 to 500",
    default: 8,
    read: integer(1, 500),
  }),
  logLevel: worded("LOG_LEVEL", "How much is logged.", "info", "debug", "warn", "error", "silent"),
  logFormat: worded(
    "LOG_FORMAT",
    "How the log is written; auto is text on a terminal and JSON elsewhere.",
    "auto",
    "json",
    "text",
  ),
  updateCheckUrl: option<string | undefined>({
    env: "UPDATE_CHECK_URL",
    about: "Manifest to look for updates in; unset: nothing is contacted.",
    accepts: "an http or https address",
    default: undefined,
    read: url,
  }),
  updatePublicKey: option<string | undefined>({
    env: "UPDATE_PUBLIC_KEY",
    about: "Ed25519 key that updates are signed with; unset: the one built in.",
    accepts: "32 bytes in base64",
    default: undefined,
    read: (v) => (/^[A-Za-z0-9+/]{43}=$/.test(v) ? v : undefined),
  }),
  otlpEndpoint: option<string | undefined>({
    env: "OTEL_EXPORTER_OTLP_ENDPOINT",
    about:
      "Receiver of traces over OTLP/HTTP, without /v1/traces; unset: the settings say, and by default none are sent.",
    accepts: "an http or https address without a password",
    default: undefined,
    read: (v) => (v.includes("@") ? undefined : url(v)),
  }),
  otlpHeaders: option<Readonly<Record<string, string>> | undefined>({
    env: "OTEL_EXPORTER_OTLP_HEADERS",
    about: "Headers for that receiver, e.g. its credential.",
    accepts: "name=value pairs, separated by commas",
    default: undefined,
    read: headerPairs,
    secret: true,
  }),
  otelServiceName: option<string>({
    env: "OTEL_SERVICE_NAME",
    about: "Name of this server in traces.",
    accepts: "a name",
    default: "skep",
    read: text,
  }),
  pushMonitorUrl: option<string | undefined>({
    env: "PUSH_MONITOR_URL",
    about: "Push address of a monitor (Uptime Kuma, Healthchecks), asked while the server is well; unset: none.",
    accepts: "an http or https address",
    default: undefined,
    read: url,
    secret: true,
  }),
  checkAnswers: flagged(
    "CHECK_ANSWERS",
    "Compare each answer with its schema, and answer 500 where they differ: for development.",
    false,
  ),
  modelCassette: option<string | undefined>({
    env: "MODEL_CASSETTE",
    about: "Record model calls to, or replay them from, this folder: record:DIR or replay:DIR.",
    accepts: "record:DIR or replay:DIR",
    default: undefined,
    read: (v) => (/^(record|replay):./.test(v) ? v : undefined),
  }),
  localvoiceUrl: option<string | undefined>({
    env: "LOCALVOICE_URL",
    about: "Local speech service that speaks OpenAI's protocol, up to and with /v1.",
    accepts: "an http or https address",
    default: undefined,
    read: url,
  }),
  piperVoice: option<string | undefined>({
    env: "PIPER_VOICE",
    about: "Voice model of piper, a local speech program.",
    accepts: "the path of an .onnx file",
    default: undefined,
    read: text,
  }),
  codehostType: worded("CODEHOST_TYPE", "Kind of code host; Forgejo counts as gitea.", "github", "gitea"),
  codehostUrl: option<string | undefined>({
    env: "CODEHOST_URL",
    about: "Address of the code host: GitHub's API (default https://api.github.com), or a Gitea's or Forgejo's site.",
    accepts: "an http or https address",
    default: undefined,
    read: url,
  }),
  codehostWebhookSecret: option<string | undefined>({
    env: "CODEHOST_WEBHOOK_SECRET",
    about: "Secret that the code host signs its webhooks with; unset: none are taken.",
    accepts: "at least 16 characters",
    default: undefined,
    read: (v) => (v.length >= 16 ? v : undefined),
    secret: true,
  }),
  codehostAppId: option<string | undefined>({
    env: "CODEHOST_APP_ID",
    about: "Id of the GitHub App.",
    accepts: "a number, or the App's client id",
    default: undefined,
    read: (v) => (/^[\w.]{1,64}$/.test(v) ? v : undefined),
  }),
  codehostAppKey: option<string | undefined>({
    env: "CODEHOST_APP_KEY",
    about: "File with the GitHub App's private key.",
    accepts: "the path of a .pem file",
    default: undefined,
    read: text,
  }),
  codehostToken: option<string | undefined>({
    env: "CODEHOST_TOKEN",
    about: "Access token for the code host, where there is no GitHub App.",
    accepts: "a token",
    default: undefined,
    read: text,
    secret: true,
  }),
  smtpUrl: option<string | undefined>({
    env: "SMTP_URL",
    about: "Mail server for notifications, with its user and password; unset: no mail is sent.",
    accepts: "smtp://USER:PASSWORD@HOST:PORT, or smtps://",
    default: undefined,
    read: (v) => (/^smtps?:\/\//i.test(v) && URL.canParse(v) ? v : undefined),
    secret: true,
  }),
  smtpFrom: option<string | undefined>({
    env: "SMTP_FROM",
    about: "Address that notifications by mail are from.",
    accepts: "an address: skep@example.org",
    default: undefined,
    read: (v) => (isEmail(normalEmail(v)) ? v : undefined),
  }),
  demoScript: option<string | undefined>({
    env: "DEMO_SCRIPT",
    about: "Transcript that demo/scripted plays.",
    accepts: "a path",
    default: undefined,
    read: text,
  }),
} satisfies Record<string, Option<never> | Option<unknown>>;

export type OptionName = keyof typeof OPTIONS;
type Values = { [K in OptionName]: (typeof OPTIONS)[K]["default"] };
type Source = "flag" | "environment" | "default";

export interface Config extends Readonly<Values> {
  /** Where each value came from. */
  readonly sources: Readonly<Record<OptionName, Source>>;
  /** Whether credentials are asked for. */
  readonly authRequired: boolean;
  /** Whether projects may be cloned from paths of this host. */
  readonly localRepositories: boolean;
  /** Variables whose key is too short to be safe, on a server that only this machine reaches. */
  readonly weakKeys: readonly string[];
  /** Provider keys and addresses of the environment, by variable name (`ANTHROPIC_API_KEY`, `OLLAMA_BASE_URL`). */
  readonly providerEnv: Readonly<Record<string, string>>;
  /** What programs of this machine that Skep starts (git, ssh) need of its environment; nothing else reaches them. */
  readonly hostEnv: Readonly<Record<string, string>>;
  /** Variables with which Kubernetes gives a Pod the address of its API server. */
  readonly clusterEnv: Readonly<Record<string, string>>;
}

const HOST_VARIABLE =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|XDG_RUNTIME_DIR|SSH_AUTH_SOCK|SSL_CERT_FILE|SSL_CERT_DIR|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY)$/;

const CLUSTER_VARIABLE = /^KUBERNETES_SERVICE_(HOST|PORT)$/;

export const flagOf = (env: string): string => `--${env.toLowerCase().replaceAll("_", "-")}`;

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);

const WEAKENED = ["engineInternalToken", "secretEncryptionKey"] as const;

/** Whether a proxy lets others in: then a loopback address does not mean that only this machine reaches us. */
const behindProxy = ({ publicUrl, trustedProxies }: Pick<Values, "publicUrl" | "trustedProxies">): boolean =>
  trustedProxies.length > 0 || (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname));

/**
 * Reads the configuration. `flags` holds what the command line gave, by option name.
 * @throws Problem 422, one line that says what is accepted.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  flags: Readonly<Partial<Record<OptionName, string>>> = {},
): Config {
  const values: Partial<Record<OptionName, unknown>> = {};
  const sources = recordOf<OptionName, Source>(keysOf(OPTIONS), () => "default");
  for (const [name, one] of entriesOf<OptionName, Option<unknown>>(OPTIONS)) {
    const flag = flags[name];
    // An empty variable counts as unset, so that an empty token never becomes a credential.
    const raw = flag ?? (env[one.env]?.trim() ? env[one.env]?.trim() : undefined);
    if (raw !== undefined) sources[name] = flag === undefined ? "environment" : "flag";
    const value = raw === undefined ? one.default : one.read(raw);
    if (raw !== undefined && value === undefined)
      throw new Problem(
        422,
        "bad_configuration",
        `${flag !== undefined ? flagOf(one.env) : one.env} accepts ${one.accepts}.`,
      );
    values[name] = value;
  }
  const config = values as Values;
  const weakKeys = WEAKENED.filter((name) => (config[name]?.length ?? KEY_CHARACTERS_MIN) < KEY_CHARACTERS_MIN);
  const reachable = !isLoopback(config.host) || behindProxy(config);
  if (reachable && weakKeys[0]) {
    const { env: variable, accepts } = OPTIONS[weakKeys[0]];
    throw new Problem(422, "bad_configuration", `${variable} accepts ${accepts} where others reach the server.`);
  }
  const environment = (names: RegExp) =>
    Object.fromEntries(
      Object.entries(env).filter((pair): pair is [string, string] => names.test(pair[0]) && !!pair[1]?.trim()),
    );
  const authRequired = config.authEnabled ?? reachable;
  return Object.freeze({
    ...config,
    data: resolve(config.data),
    sources,
    authRequired,
    localRepositories: config.allowLocalRepositories ?? (!reachable && !authRequired),
    weakKeys: weakKeys.map((name) => OPTIONS[name].env),
    providerEnv: environment(/^[A-Z0-9_]+_(API_KEY|BASE_URL)$/),
    hostEnv: environment(HOST_VARIABLE),
    clusterEnv: environment(CLUSTER_VARIABLE),
  });
}

/** The values in force and their sources, secrets masked; for `skep config`. */
export function describeConfig(
  config: Config,
): { option: string; flag: string; value: string; source: Source; about: string }[] {
  return entriesOf<OptionName, Option<unknown>>(OPTIONS).map(([name, one]) => {
    const value = config[name];
    const shown =
      value === undefined ? "(unset)" : one.secret ? "(set)" : Array.isArray(value) ? value.join(",") : String(value);
    return { option: one.env, flag: flagOf(one.env), value: shown, source: config.sources[name], about: one.about };
  });
}
