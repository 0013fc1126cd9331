/**
 * The configuration: one table of options. Each option has an environment variable and a flag of the same name
 * (`AGENT_IMAGE`, `--agent-image`). A flag overrides the environment, and the environment the default. Read once, then
 * passed on.
 */

import { resolve } from "node:path";
import {
  addressOption,
  choiceOption,
  flagOption,
  headerPairs,
  hostHeaders,
  hosts,
  listOption,
  networks,
  numberOption,
  type Option,
  option,
  optional,
  origins,
  secretAddress,
  secretOption,
  text,
  url,
} from "./config-option.ts";
import { DOCKER_OPTIONS } from "./docker-options.ts";
import { isEmail, normalEmail } from "./email.ts";
import { Problem } from "./errors.ts";
import { KUBERNETES_OPTIONS } from "./kubernetes-options.ts";
import { PREVIEW_OPTIONS } from "./preview-options.ts";
import { entriesOf, keysOf, recordOf } from "./typed-keys.ts";

/** Shorter keys can be guessed, so they are only accepted on a loopback address. */
const KEY_CHARACTERS_MIN = 16;

export const OPTIONS = {
  data: option<string>({
    env: "DATA",
    about: "Folder for all data of the server.",
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
  port: numberOption("PORT", "Port to listen on; 0 takes a free one.", { from: 0, to: 65_535, default: 8000 }),
  publicUrl: addressOption("PUBLIC_URL", "Address under which browsers and agents reach this server."),
  ...PREVIEW_OPTIONS,
  authEnabled: flagOption(
    "AUTH_ENABLED",
    "Ask for credentials. Unset: off if only this machine can reach the server (loopback, no proxy), otherwise on.",
    undefined,
  ),
  engineInternalToken: secretOption(
    "ENGINE_INTERNAL_TOKEN",
    "Service-level key; 32 random bytes, URL-safe.",
    "at least 16 characters",
    text,
  ),
  secretEncryptionKey: secretOption(
    "SECRET_ENCRYPTION_KEY",
    "Key of stored secrets; 64 hexadecimal digits.",
    "64 hexadecimal digits, or at least 16 characters",
    text,
  ),
  secretKeyEphemeral: flagOption("SECRET_KEY_EPHEMERAL", "Keep a generated secrets key in memory only.", false),
  allowedHosts: listOption(
    "ALLOWED_HOSTS",
    "Additional Host headers that the server answers to.",
    "names, separated by commas",
    hostHeaders,
  ),
  corsOrigins: listOption(
    "CORS_ORIGINS",
    "Other web origins that may call the API.",
    "origins such as https://app.example.org, separated by commas",
    origins,
  ),
  trustedProxies: listOption(
    "TRUSTED_PROXIES",
    "Addresses or networks of proxies whose X-Forwarded-* headers are trusted.",
    "addresses or CIDR networks, separated by commas",
    networks,
  ),
  rateLimit: numberOption("RATE_LIMIT", "Requests that one user or address may send per minute; 0 sets no limit.", {
    from: 0,
    to: 1_000_000,
    default: 6_000,
  }),
  sandbox: choiceOption("SANDBOX", "Where agents work.", "auto", "docker", "kubernetes", "process"),
  ...DOCKER_OPTIONS,
  ...KUBERNETES_OPTIONS,
  agentImage: option<string>({
    env: "AGENT_IMAGE",
    about: "Container image of agents that name none; any image that contains sh.",
    accepts: "an image name",
    default: "skep/agent:latest",
    read: text,
  }),
  imagePull: flagOption("IMAGE_PULL", "Pull an agent's image when it is missing.", true),
  agentToken: choiceOption(
    "AGENT_TOKEN",
    "Token inside an agent's container: one for its execution only, or the instance's own.",
    "execution",
    "shared",
  ),
  agentApiUrl: addressOption(
    "AGENT_API_URL",
    "Address under which containers reach this server; unset: containers get no address.",
  ),
  allowHostShell: flagOption("ALLOW_HOST_SHELL", "Let agents run commands on this host in the process sandbox.", false),
  allowLocalRepositories: flagOption(
    "ALLOW_LOCAL_REPOSITORIES",
    "Let projects clone from paths of this host. Unset: only if just this machine gets in, without credentials.",
    undefined,
  ),
  fetchAllow: listOption(
    "FETCH_ALLOW",
    "Private network addresses that agents may fetch.",
    "host names without a port, addresses or CIDR networks, separated by commas",
    hosts,
  ),
  notifyAllow: listOption(
    "NOTIFY_ALLOW",
    "Private network addresses that notifications may be sent to. FETCH_ALLOW does not allow them.",
    "host names without a port, addresses or CIDR networks, separated by commas",
    hosts,
  ),
  maxExecutions: numberOption("MAX_EXECUTIONS", "Number of executions that may run at the same time.", {
    from: 1,
    to: 500,
    default: 8,
  }),
  logLevel: choiceOption("LOG_LEVEL", "How much is logged.", "info", "debug", "warn", "error", "silent"),
  logFormat: choiceOption(
    "LOG_FORMAT",
    "How the log is written; auto is text on a terminal and JSON elsewhere.",
    "auto",
    "json",
    "text",
  ),
  updateCheckUrl: addressOption("UPDATE_CHECK_URL", "Manifest to check for updates; unset: the server does not check."),
  updatePublicKey: optional(
    "UPDATE_PUBLIC_KEY",
    "Ed25519 key that updates are signed with; unset: the one built in.",
    "32 bytes in base64",
    (v) => (/^[A-Za-z0-9+/]{43}=$/.test(v) ? v : undefined),
  ),
  otlpEndpoint: optional(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTLP/HTTP receiver of traces, without /v1/traces; unset: the one in the settings, by default none.",
    "an http or https address without a password",
    (v) => (v.includes("@") ? undefined : url(v)),
  ),
  otlpHeaders: secretOption(
    "OTEL_EXPORTER_OTLP_HEADERS",
    "Headers for the receiver of traces, e.g. its credential.",
    "name=value pairs, separated by commas",
    headerPairs,
  ),
  otelServiceName: option<string>({
    env: "OTEL_SERVICE_NAME",
    about: "Name of this server in traces.",
    accepts: "a name",
    default: "skep",
    read: text,
  }),
  pushMonitorUrl: secretAddress(
    "PUSH_MONITOR_URL",
    "Push address of a monitor (Uptime Kuma, Healthchecks), called while the server is healthy; unset: none.",
  ),
  checkAnswers: flagOption(
    "CHECK_ANSWERS",
    "Compare each API answer with its schema, and answer 500 when they differ; for development.",
    false,
  ),
  modelCassette: optional(
    "MODEL_CASSETTE",
    "Folder to record model calls to, or to replay them from: record:DIR or replay:DIR.",
    "record:DIR or replay:DIR",
    (v) => (/^(record|replay):./.test(v) ? v : undefined),
  ),
  localvoiceUrl: addressOption(
    "LOCALVOICE_URL",
    "Address of a local speech service that speaks OpenAI's protocol, up to and including /v1.",
  ),
  piperVoice: optional(
    "PIPER_VOICE",
    "Voice model for piper, a local speech program.",
    "the path of an .onnx file",
    text,
  ),
  codehostType: choiceOption("CODEHOST_TYPE", "Kind of code host; use gitea for Forgejo.", "github", "gitea"),
  codehostUrl: addressOption(
    "CODEHOST_URL",
    "Address of GitHub's API (default https://api.github.com), or of the Gitea or Forgejo site.",
  ),
  codehostWebhookSecret: secretOption(
    "CODEHOST_WEBHOOK_SECRET",
    "Secret that the code host signs its webhooks with; unset: no webhooks are accepted.",
    "at least 16 characters",
    (v) => (v.length >= 16 ? v : undefined),
  ),
  codehostAppId: optional("CODEHOST_APP_ID", "Id of the GitHub App.", "a number, or the App's client id", (v) =>
    /^[\w.]{1,64}$/.test(v) ? v : undefined,
  ),
  codehostAppKey: optional(
    "CODEHOST_APP_KEY",
    "File with the GitHub App's private key.",
    "the path of a .pem file",
    text,
  ),
  codehostToken: secretOption(
    "CODEHOST_TOKEN",
    "Access token for the code host, if there is no GitHub App.",
    "a token",
    text,
  ),
  smtpUrl: secretOption(
    "SMTP_URL",
    "Mail server for notifications, with its user and password; unset: no mail is sent.",
    "smtp://USER:PASSWORD@HOST:PORT, or smtps://",
    (v) => (/^smtps?:\/\//i.test(v) && URL.canParse(v) ? v : undefined),
  ),
  smtpFrom: optional("SMTP_FROM", "Sender address of notifications by mail.", "an address: skep@example.org", (v) =>
    isEmail(normalEmail(v)) ? v : undefined,
  ),
  demoScript: optional("DEMO_SCRIPT", "Transcript that demo/scripted plays.", "a path", text),
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
  /** Variables whose key is too short to be safe; only possible on a server that no other machine reaches. */
  readonly weakKeys: readonly string[];
  /**
   * Keys and addresses of model providers from the environment, by variable name (`ANTHROPIC_API_KEY`,
   * `OLLAMA_BASE_URL`).
   */
  readonly providerEnv: Readonly<Record<string, string>>;
  /** The environment variables for programs that Skep starts on this machine (git, ssh). They get no others. */
  readonly hostEnv: Readonly<Record<string, string>>;
  /** Variables by which Kubernetes tells a Pod the address of its API server. */
  readonly clusterEnv: Readonly<Record<string, string>>;
}

const HOST_VARIABLE =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|XDG_RUNTIME_DIR|SSH_AUTH_SOCK|SSL_CERT_FILE|SSL_CERT_DIR|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY)$/;

const CLUSTER_VARIABLE = /^KUBERNETES_SERVICE_(HOST|PORT)$/;

export const flagOf = (env: string): string => `--${env.toLowerCase().replaceAll("_", "-")}`;

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);

const WEAKENED = ["engineInternalToken", "secretEncryptionKey"] as const;

/**
 * Whether a proxy forwards requests from other machines. Then a loopback address does not mean that only this machine
 * reaches us.
 */
const behindProxy = ({ publicUrl, trustedProxies }: Pick<Values, "publicUrl" | "trustedProxies">): boolean =>
  trustedProxies.length > 0 || (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname));

/**
 * Reads the configuration. `flags` holds the command line's values, by option name.
 * @throws Problem 422, one line that says which values are accepted.
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
  const pickVariables = (names: RegExp) =>
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
    providerEnv: pickVariables(/^[A-Z0-9_]+_(API_KEY|BASE_URL)$/),
    hostEnv: pickVariables(HOST_VARIABLE),
    clusterEnv: pickVariables(CLUSTER_VARIABLE),
  });
}

/** The current values and their sources, with secrets masked; for `skep config`. */
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
