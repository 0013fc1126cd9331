/** Finds where the engine listens: parses DOCKER_HOST, or tries the usual sockets when it is not set. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type Docker from "dockerode";
import { badRequest } from "../../core/errors.ts";
import { type SshHost, sshHost } from "./ssh.ts";

export interface DockerEndpoint {
  /** Address for people and messages; it never contains credentials. */
  address: string;
  socketPath?: string;
  /** The machine of the engine's socket, when that is another machine. */
  ssh?: SshHost;
  tcp?: { host: string; port: number; tls?: { ca: string; cert: string; key: string } };
}

export interface EndpointOptions {
  /** DOCKER_HOST: `unix:///path`, `/path`, `tcp://host:port`, `http(s)://host:port`, `ssh://user@host`. */
  host?: string | undefined;
  /** Folder with ca.pem, cert.pem and key.pem. When it is set, tcp uses TLS. */
  certPath?: string | undefined;
  /** XDG_RUNTIME_DIR, which holds the sockets of rootless Docker and Podman. */
  runtimeDir?: string | undefined;
  /** The user's home folder, which holds the sockets of Docker Desktop and Colima. */
  home?: string | undefined;
  /** Environment variables that the `ssh` program gets. */
  env?: Readonly<Record<string, string>> | undefined;
}

const SYSTEM_SOCKET = "/var/run/docker.sock";

/** Chooses the endpoint. Throws 400 when DOCKER_HOST is not a supported address (npipe, for example). */
export function dockerEndpoint(options: EndpointOptions = {}): DockerEndpoint {
  const host = options.host?.trim();
  if (!host) return socketEndpoint(usualSockets(options).find((path) => existsSync(path)) ?? SYSTEM_SOCKET);
  if (host.startsWith("/")) return socketEndpoint(host);
  if (host.startsWith("unix://")) return socketEndpoint(host.slice("unix://".length) || SYSTEM_SOCKET);
  if (host.startsWith("ssh://")) return { address: host, ssh: sshHost(host, options.env ?? {}) };
  return tcpEndpoint(host, options.certPath);
}

function usualSockets({ runtimeDir, home }: EndpointOptions): string[] {
  const sockets = [SYSTEM_SOCKET];
  if (home) sockets.push(join(home, ".docker/run/docker.sock"), join(home, ".colima/default/docker.sock"));
  if (runtimeDir) sockets.push(join(runtimeDir, "docker.sock"), join(runtimeDir, "podman/podman.sock"));
  sockets.push("/run/podman/podman.sock");
  return sockets;
}

const socketEndpoint = (socketPath: string): DockerEndpoint => ({ address: `unix://${socketPath}`, socketPath });

function tcpEndpoint(host: string, certPath: string | undefined): DockerEndpoint {
  const url = URL.parse(host.includes("://") ? host : `tcp://${host}`);
  const tls = certPath !== undefined || url?.protocol === "https:";
  if (!url?.hostname || !["tcp:", "http:", "https:"].includes(url.protocol))
    throw badRequest(
      "DOCKER_HOST must be unix:///path, ssh://user@host, tcp://host:port or https://host:port.",
      "docker_host_invalid",
    );
  const port = Number(url.port || (tls ? 2376 : 2375));
  const address = `tcp://${url.hostname}:${port}`;
  if (!tls) return { address, tcp: { host: url.hostname, port } };
  if (certPath === undefined)
    throw badRequest("Docker over TLS needs DOCKER_CERT_PATH with ca.pem, cert.pem, key.pem.", "docker_host_invalid");
  const readPem = (name: string) => readFileSync(join(certPath, `${name}.pem`), "utf8");
  return {
    address,
    tcp: { host: url.hostname, port, tls: { ca: readPem("ca"), cert: readPem("cert"), key: readPem("key") } },
  };
}

/**
 * Options for the client library. Every member is set, even to undefined, because the library reads missing members
 * from the environment.
 */
export function modemOptions(endpoint: DockerEndpoint): Docker.DockerOptions {
  const { tcp, socketPath } = endpoint;
  return {
    socketPath,
    host: tcp?.host,
    port: tcp?.port,
    protocol: tcp?.tls ? "https" : "http",
    ca: tcp?.tls?.ca,
    cert: tcp?.tls?.cert,
    key: tcp?.tls?.key,
    timeout: undefined,
  };
}
