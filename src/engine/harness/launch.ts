/**
 * What is started in the sandbox: a line of Node.js that writes the program's configuration, hands connections to the
 * loopback interface on to the gateway's socket, and becomes the program's parent. A container without a network has
 * that interface, and nobody else is on it.
 */
import type { HarnessPlaces, Program } from "../sandbox.ts";
import type { Launch } from "./definitions.ts";

/** Reads its orders from the environment, so that no argument names a secret. */
const VARIABLE = "SKEP_LAUNCH";

const SCRIPT = `
const { dirname } = require("node:path");
const { mkdirSync, writeFileSync } = require("node:fs");
const net = require("node:net");
const { argv, files, relay } = JSON.parse(process.env.${VARIABLE});
delete process.env.${VARIABLE};
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
}
const join = (from) => {
  const to = net.connect(relay.socket);
  from.pipe(to).pipe(from);
  from.on("error", () => to.destroy()).on("close", () => to.destroy());
  to.on("error", () => from.destroy()).on("close", () => from.destroy());
};
const start = () => {
  const child = require("node:child_process").spawn(argv[0], argv.slice(1), { stdio: "inherit" });
  child.on("error", (error) => { console.error(error.message); process.exit(127); });
  child.on("exit", (code) => process.exit(code ?? 1));
};
if (relay) net.createServer(join).listen(relay.port, "127.0.0.1", start);
else start();
`;

/** @param relay where the program finds the gateway; absent where it reaches the gateway's own address. */
export function programOf({ argv, env, files }: Launch, relay: HarnessPlaces["relay"]): Program {
  return {
    argv: ["node", "-e", SCRIPT],
    env: { ...env, [VARIABLE]: JSON.stringify({ argv, files, relay }) },
  };
}
