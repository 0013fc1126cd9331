/** Real proxies for tests: nginx and Caddy, each with what a test writes into its configuration. */
import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lacks } from "./parts.ts";

export interface RealProxy {
  /** Without a path. */
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Whether it is installed, for `skipIf`; on Debian nginx is where only root looks. */
export const hasProgram = (name: string): boolean =>
  !lacks(name, Bun.which(name, { PATH: `${process.env["PATH"]}:/usr/sbin` }) !== null);

/** Ports that are tried; where none of so many is free, something else is wrong. */
const MOST_PORTS = 50;

/**
 * A port that is free, below those that the system gives to connections and to servers that name none.
 * @throws the last error when no port can be listened on.
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

/** Runs it until it passes requests on: to a server that is already running. */
async function started(command: string[], home: string, port: number): Promise<RealProxy> {
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

/** @param lines of nginx's `server`, besides its address. */
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
  return started(["nginx", "-p", home, "-c", path, "-e", "stderr"], home, port);
}

/** @param lines of the site. */
export function startCaddy(folder: string, lines: string, port = freePort()): Promise<RealProxy> {
  const home = mkdtempSync(join(folder, "caddy-"));
  const path = join(home, "Caddyfile");
  writeFileSync(path, `{\n  admin off\n  auto_https off\n}\nhttp://127.0.0.1:${port} {\n  ${lines}\n}\n`);
  return started(["caddy", "run", "--config", path, "--adapter", "caddyfile"], home, port);
}
