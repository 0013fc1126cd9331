/**
 * Log-ins beside other work: 50 a second for a minute, each from a different address, while other callers send requests
 * at a steady rate. Requests are sent by the clock, whether or not the last one was answered. They are timed from when
 * they were due, so that a stall counts in full. Client and server share this machine.
 *   scripts/bench logins [SECONDS [LOG-INS A SECOND]]
 */
import { type Account, elsewhere, logIn, PASSWORD, setupAdmin } from "../src/testing/accounts.ts";
import { startServer } from "../src/testing/server.ts";
import { quantile } from "./bench-figures.ts";

const SECONDS = Number(process.argv[2] ?? 60);
const LOGINS_PER_SECOND = Number(process.argv[3] ?? 50);
const OTHERS_PER_SECOND = 100;
const BASELINE_SECONDS = Math.min(20, SECONDS);
/** A user keeps 100 sessions. With so many users, no log-in removes a session that the other callers use. */
const USERS = 60;
const BOUND_MS = 100;

interface Measured {
  ms: number[];
  statuses: Map<number, number>;
}

/** Sends requests by the clock until the end, then waits for the last answer. `send` resolves to the status. */
async function sendSteadily(
  perSecond: number,
  seconds: number,
  send: (n: number) => Promise<number>,
): Promise<Measured> {
  const measured: Measured = { ms: [], statuses: new Map() };
  const began = performance.now();
  const pending: Promise<void>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = began + (n * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await Bun.sleep(early);
    pending.push(
      send(n).then((status) => {
        measured.ms.push(performance.now() - due);
        measured.statuses.set(status, (measured.statuses.get(status) ?? 0) + 1);
      }),
    );
  }
  await Promise.all(pending);
  return measured;
}

const formatLine = (name: string, { ms, statuses }: Measured): string => {
  const [p50, p99, max] = [quantile(ms, 0.5), quantile(ms, 0.99), Math.max(...ms)].map((value) => value.toFixed(0));
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  return `${name.padEnd(34)} p50 ${p50} ms   p99 ${p99} ms   max ${max} ms   (${counts})`;
};

const server = await startServer({ env: { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1" } });
try {
  const admin = await setupAdmin(server);
  const users: Account[] = [];
  for (let n = 0; n < USERS; n++) {
    const body = { email: `user${n}@example.test`, password: PASSWORD };
    await server.request("POST", "/v1/users", { token: admin.token, body });
    users.push(await logIn(server, body.email, PASSWORD, elsewhere()["X-Forwarded-For"]));
  }
  const fetchStatus = async (path: string, init: RequestInit) => {
    const answer = await fetch(server.url + path, init);
    await answer.arrayBuffer();
    return answer.status;
  };
  const paths = ["/v1/auth/me", "/v1/runs", "/v1/agents", "/v1/status"];
  const sendOther = (n: number) =>
    n % 5 === 4
      ? fetchStatus("/v1/events/ticket", {
          method: "POST",
          headers: { Authorization: `Bearer ${users[n % USERS]!.token}` },
        })
      : fetchStatus(paths[n % paths.length]!, { headers: { Authorization: `Bearer ${users[n % USERS]!.token}` } });
  const sendLogin = (n: number) =>
    fetchStatus("/v1/auth/login", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...elsewhere() },
      body: JSON.stringify({ email: users[n % USERS]!.email, password: PASSWORD }),
    });

  const alone = await sendSteadily(OTHERS_PER_SECOND, BASELINE_SECONDS, sendOther);
  const [beside, logins] = await Promise.all([
    sendSteadily(OTHERS_PER_SECOND, SECONDS, sendOther),
    sendSteadily(LOGINS_PER_SECOND, SECONDS, sendLogin),
  ]);
  console.log(
    `## logins (${LOGINS_PER_SECOND} a second for ${SECONDS} s, ${OTHERS_PER_SECOND} other requests a second, client on the same machine)`,
  );
  console.log(formatLine(`others alone, ${BASELINE_SECONDS} s`, alone));
  console.log(formatLine("others beside the log-ins", beside));
  console.log(formatLine("the log-ins", logins));
  const kept = quantile(beside.ms, 0.99) < BOUND_MS;
  console.log(`p99 of others under ${BOUND_MS} ms: ${kept ? "kept" : "BROKEN"}`);
  if (!kept) process.exitCode = 1;
} finally {
  await server.remove();
}
