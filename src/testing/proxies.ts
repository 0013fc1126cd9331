/** Real proxies for tests: nginx and Caddy, with the configuration that a test writes. */
import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lacks } from "./parts.ts";

export interface RealProxy {
  /** The proxy's URL, without a path. */
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Whether the program is installed, for `skipIf`. Debian installs nginx in a folder that is only in root's PATH. */
export const hasProgram = (name: string): boolean =>
  !lacks(name, Bun.which(name, { PATH: `${process.env["PATH"]}:/usr/sbin` }) !== null);

/** How many ports are tried. If all of them are taken, something else is wrong. */
const MOST_PORTS = 50;

/**
 * A free port below the range from which the system assigns ports.
 * @throws the last error if no port can be listened on.
 */
export function freePort(): number {
  for (let tried = 1; ; tried++) {
    const port = randomInt(10_000, 32_000);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch (error) {
      if (tried === MOST_PORTS) throw error;
    }
  }
}

/** Starts the proxy and waits until it forwards requests to a server that is already running. */
async function startProxy(command: string[], home: string, port: number): Promise<RealProxy> {
  const child = Bun.spawn(command, {
    stdout: "ignore",
    stderr: "pipe",
    env: { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin`, HOME: home },
  });
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended: ${await new Response(child.stderr).text()}`);
    await Bun.sleep(50);
  }
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** @param lines further lines of nginx's `server` block, besides its address. */
export function startNginx(folder: string, lines: string, port = freePort()): Promise<RealProxy> {
  const home = mkdtempSync(join(folder, "nginx-"));
  const kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  for (const name of kept) mkdirSync(join(home, name));
  const config = `daemon off; master_process off; pid nginx.pid; error_log stderr;
events {}
http {
  access_log off; ${kept.map((name) => `${name}_temp_path ${name};`).join(" ")}
  server {
    listen 127.0.0.1:${port}; client_max_body_size 64m;
    ${lines}
  }
}`;
  const path = join(home, "nginx.conf");
  writeFileSync(path, config);
  return startProxy(["nginx", "-p", home, "-c", path, "-e", "stderr"], home, port);
}

/** @param lines lines of the site block. */
export function startCaddy(folder: string, lines: string, port = freePort()): Promise<RealProxy> {
  const home = mkdtempSync(join(folder, "caddy-"));
  const path = join(home, "Caddyfile");
  writeFileSync(path, `{\n  admin off\n  auto_https off\n}\nhttp://127.0.0.1:${port} {\n  ${lines}\n}\n`);
  return startProxy(["caddy", "run", "--config", path, "--adapter", "caddyfile"], home, port);
}
