/** Reading access to a cluster from a kubeconfig and a service account, and the remedies in refusals. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clusterAccess } from "./access.ts";

const folder = mkdtempSync(join(tmpdir(), "skep-kubeconfig-"));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, "config");
const encode = (text: string) => Buffer.from(text).toString("base64");

function configOf(user: string, cluster = "server: https://cluster.test:6443"): string {
  writeFileSync(
    path,
    `apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: c, user: u, namespace: agents}}
- {name: two, context: {cluster: c, user: u}}
clusters:
- {name: c, cluster: {${cluster}}}
users:
- {name: u, user: {${user}}}
`,
  );
  return path;
}
const access = (user: string, cluster?: string, context?: string) =>
  clusterAccess({ kubeconfig: configOf(user, cluster), context, env: {} });

describe("a kubeconfig", () => {
  test("gives address, namespace, authority and the credentials of its context", () => {
    writeFileSync(join(folder, "ca.pem"), "AUTHORITY");
    const found = access("token: secret-token", "server: https://cluster.test:6443, certificate-authority: ca.pem");
    expect(found).toMatchObject({ address: "https://cluster.test:6443", namespace: "agents" });
    expect(found.tls).toEqual({ rejectUnauthorized: true, ca: "AUTHORITY" });
    expect(found.authorization()).toBe("Bearer secret-token");
    expect(access("token: t", undefined, "two").namespace).toBe("default");
    const pair = `client-certificate-data: ${encode("CERT")}, client-key-data: ${encode("KEY")}`;
    const certified = access(pair, "server: https://c, insecure-skip-tls-verify: true, tls-server-name: other");
    expect(certified.tls).toEqual({ rejectUnauthorized: false, cert: "CERT", key: "KEY", serverName: "other" });
    expect(certified.authorization()).toBeUndefined();
    expect(access("username: ann, password: word").authorization()).toBe(`Basic ${encode("ann:word")}`);
  });

  test("has the file of a token read for each request, because clusters replace it", () => {
    writeFileSync(join(folder, "token"), "first\n");
    const { authorization } = access("tokenFile: token");
    expect(authorization()).toBe("Bearer first");
    writeFileSync(join(folder, "token"), "second\n");
    expect(authorization()).toBe("Bearer second");
  });

  test("that needs a program, names what is not there, or is none, is refused with what to do", () => {
    const refused: [what: () => unknown, says: RegExp][] = [
      [() => access("exec: {command: aws}"), /logs in by a program \(exec\).*kubectl create token/],
      [() => access("auth-provider: {name: gcp}"), /logs in by a program \(auth-provider\)/],
      [() => access("tokenFile: nowhere").authorization(), /The token's file .*nowhere\) cannot be read: ENOENT/],
      [() => access('token: "two words"'), /no token/],
      [() => access("token: t", "server: ftp://c"), /no server address/],
      [() => access("token: t", undefined, "three"), /no context "three"/],
      [() => clusterAccess({ kubeconfig: join(folder, "none"), env: {} }), /KUBERNETES_CONFIG names .*ENOENT/],
      [() => access("token: &a x, other: *a"), /kubeconfig|alias/i],
      [() => clusterAccess({ env: {} }), /KUBERNETES_CONFIG, the path of a kubeconfig file/],
    ];
    for (const [what, says] of refused) expect(what).toThrow(says);
    writeFileSync(path, "a: [");
    expect(() => clusterAccess({ kubeconfig: path, env: {} })).toThrow(/is no kubeconfig/);
  });
});

test("in a Pod the service account is used, with its namespace", () => {
  const account = join(folder, "account");
  mkdirSync(account);
  for (const [name, text] of Object.entries({ namespace: "here\n", "ca.crt": "CA", token: "one" }))
    writeFileSync(join(account, name), text);
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const found = clusterAccess({ env, account });
  expect([found.server.href, found.namespace, found.tls.ca]).toEqual(["https://[fd00::1]/", "here", "CA"]);
  expect(found.authorization()).toBe("Bearer one");
});
