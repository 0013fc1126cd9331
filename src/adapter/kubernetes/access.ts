/**
 * Reads how to reach a cluster's API server: from a kubeconfig file, or, in a Pod of the cluster, from its service
 * account. Token files are read again for each request, because clusters replace the tokens every hour.
 */
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseDocument } from "yaml";
import { codeOf, unavailable } from "../../core/errors.ts";
import { isObject, listIn, membersOf, textIn } from "../../core/is-object.ts";

export interface ClusterAccess {
  /** Address for people and messages; it never contains credentials. */
  address: string;
  server: URL;
  /** Namespace of the configuration. */
  namespace: string;
  tls: ClusterTls;
  /** The Authorization header for a request. @throws Problem when the token's file cannot be read. */
  authorization(): string | undefined;
}

export interface ClusterTls {
  ca?: string;
  cert?: string;
  key?: string;
  /** The name that the server's certificate is for, when it differs from the address. */
  serverName?: string;
  /** False only when the kubeconfig says `insecure-skip-tls-verify`. */
  rejectUnauthorized: boolean;
}

interface AccessOptions {
  /** Path of a kubeconfig file. */
  kubeconfig?: string | undefined;
  /** Context in the kubeconfig; its current context when absent. */
  context?: string | undefined;
  /** Environment variables of the server's process, among them those that a Pod gets. */
  env: Readonly<Record<string, string | undefined>>;
  /** Folder of a Pod's service account. */
  account?: string;
}

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const MAX_FILE_BYTES = 1024 * 1024;

const refuse = (detail: string) => unavailable("kubernetes_access_invalid", detail);

/** @throws Problem 503 `kubernetes_access_invalid` with what is missing or cannot be used. */
export function clusterAccess({ kubeconfig, context, env, account = ACCOUNT }: AccessOptions): ClusterAccess {
  if (kubeconfig !== undefined) return fromFile(kubeconfig, context);
  const [host, port] = [env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"]];
  if (!host || !port)
    throw refuse(
      "SANDBOX=kubernetes needs KUBERNETES_CONFIG, the path of a kubeconfig file. Without it the server must run in a Pod with a service account.",
    );
  const server = new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const readAccountFile = (name: string) => fileText(resolve(account, name), `The service account's ${name}`);
  return {
    address: server.origin,
    server,
    namespace: readAccountFile("namespace").trim(),
    tls: { ca: readAccountFile("ca.crt"), rejectUnauthorized: true },
    authorization: () => toBearer(readAccountFile("token")),
  };
}

function fromFile(path: string, wanted: string | undefined): ClusterAccess {
  const config = parseConfig(fileText(path, "The file that KUBERNETES_CONFIG names"), path);
  const contextName = wanted ?? textIn(config, "current-context") ?? "";
  if (contextName === "")
    throw refuse(`${path} has no current-context. Set one, or name a context in KUBERNETES_CONTEXT.`);
  const context = getNamed(config, "contexts", contextName, "context");
  const cluster = getNamed(config, "clusters", textIn(context, "cluster") ?? "", "cluster");
  const user = getNamed(config, "users", textIn(context, "user") ?? "", "user");
  const server = URL.parse(textIn(cluster, "server") ?? "");
  if (!server || !/^https?:$/.test(server.protocol))
    throw refuse(`The cluster of ${contextName} in ${path} has no server address that begins with https://.`);
  const folder = dirname(resolve(path));
  const findPem = (of: unknown, name: string): string | undefined => {
    const inline = textIn(of, `${name}-data`);
    if (inline !== undefined) return Buffer.from(inline, "base64").toString("utf8");
    const file = textIn(of, name);
    return file === undefined ? undefined : fileText(resolve(folder, file), `${name} of ${contextName}`);
  };
  const [ca, cert, key] = [
    findPem(cluster, "certificate-authority"),
    findPem(user, "client-certificate"),
    findPem(user, "client-key"),
  ];
  const serverName = textIn(cluster, "tls-server-name");
  const skips = membersOf(cluster)["insecure-skip-tls-verify"] === true;
  return {
    address: server.origin,
    server,
    namespace: textIn(context, "namespace") ?? "default",
    tls: {
      rejectUnauthorized: !skips,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
      ...(serverName === undefined ? {} : { serverName }),
    },
    authorization: authorizationOf(user, folder, `The user of ${contextName} in ${path}`),
  };
}

/** @param what names the user in error messages. */
function authorizationOf(user: unknown, folder: string, what: string): () => string | undefined {
  for (const name of ["exec", "auth-provider"])
    if (isObject(membersOf(user)[name]))
      throw refuse(
        `${what} logs in by a program (${name}), which this server does not run. Give it a service account's token instead: kubectl create token NAME --duration=8760h, or a client certificate.`,
      );
  const file = textIn(user, "tokenFile");
  if (file !== undefined) return () => toBearer(fileText(resolve(folder, file), "The token's file"));
  const token = textIn(user, "token");
  if (token !== undefined) {
    const value = toBearer(token);
    return () => value;
  }
  const [name, password] = [textIn(user, "username"), textIn(user, "password")];
  if (name === undefined || password === undefined) return () => undefined;
  return () => `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}

function toBearer(text: string): string {
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw refuse("The token for the cluster is empty or no token.");
  return `Bearer ${token}`;
}

function parseConfig(text: string, path: string): unknown {
  const document = parseDocument(text, { logLevel: "silent" });
  const fault = document.errors[0];
  if (fault) throw refuse(`${path} is no kubeconfig: ${fault.message.split("\n")[0]}`);
  return document.toJS({ maxAliasCount: 0 });
}

function getNamed(config: unknown, list: string, name: string, member: string): unknown {
  const found = listIn(config, list).find((one) => textIn(one, "name") === name);
  if (!found) throw refuse(`The kubeconfig has no ${member} ${JSON.stringify(name)}.`);
  return membersOf(found)[member];
}

function fileText(path: string, what: string): string {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw refuse(`${what} (${path}) has more than ${MAX_FILE_BYTES} bytes.`);
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || code === "kubernetes_access_invalid") throw error;
    throw refuse(`${what} (${path}) cannot be read: ${code}.`);
  }
}
