/**
 * Lays the certificate of a sandbox's authority where its programs look for those they trust, before any command of the agent
 * runs: with the image's own in one file. It says nothing secret, and a program that changes it harms its own sandbox alone.
 */
import { unavailable } from "../../core/errors.ts";
import type { Sandbox } from "../../engine/sandbox.ts";

const FILE = "/tmp/.skep-ca.pem";
const SCRIPT = `for file in /etc/ssl/certs/ca-certificates.crt /etc/ssl/cert.pem /etc/pki/tls/certs/ca-bundle.crt; do
  if [ -r "$file" ]; then cat "$file"; break; fi
done > ${FILE} && cat >> ${FILE}`;
const TIMEOUT_MS = 60_000;

/** @returns the variables that name the file to programs. @throws Problem 503 `edge_unavailable`. */
export async function layAuthority(sandbox: Pick<Sandbox, "exec">, pem: string): Promise<Record<string, string>> {
  const { exitCode, output } = await sandbox.exec(["sh", "-c", SCRIPT], {
    cwd: "/",
    stdin: pem,
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 4_096,
  });
  if (exitCode !== 0)
    throw unavailable(
      "edge_unavailable",
      `The certificate for credentials could not be laid into the sandbox: ${output.trim().slice(0, 200)}. The image needs \`sh\` and \`cat\`.`,
    );
  return Object.fromEntries(VARIABLES.map((name) => [name, FILE]));
}

/** OpenSSL and Go, curl, git, Node, Python's requests and pip, cargo, Deno, the AWS tools. */
const VARIABLES = [
  "SSL_CERT_FILE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "NODE_EXTRA_CA_CERTS",
  "REQUESTS_CA_BUNDLE",
  "PIP_CERT",
  "CARGO_HTTP_CAINFO",
  "DENO_CERT",
  "AWS_CA_BUNDLE",
];
