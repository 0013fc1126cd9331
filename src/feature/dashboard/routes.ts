/**
 * Serves the dashboard: its page at `/` and, through the gate, at every other page address that is not a route, and the
 * hashed files under /assets. They are public, because they hold no data: the page asks the API for data with the
 * reader's rights.
 */

import { Type as t } from "@sinclair/typebox";
import { file } from "bun";
import { notFound } from "../../core/errors.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { manifestOf, SERVICE_WORKER } from "./installed.ts";

/** The text between the script tags, exactly as the browser hashes it. */
const inlineScripts = (page: string): string[] =>
  page
    .split("<script>")
    .slice(1)
    .map((rest) => rest.split("</script>", 1)[0] ?? "");

const hashSource = (script: string): string =>
  `'sha256-${new Bun.CryptoHasher("sha256").update(script).digest("base64")}'`;

/** The content security policy. @param page only its own inline scripts may run, exactly as they were built. */
const policyFor = (page: string): string =>
  [
    "default-src 'none'",
    ["script-src 'self'", ...inlineScripts(page).map(hashSource)].join(" "),
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // This Trusted Types policy only returns the address of the one worker.
    "trusted-types skep-worker",
  ].join("; ");

const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  woff2: "font/woff2",
};
const NOT_BUILT = `<!doctype html><meta charset="utf-8"><title>Skep</title><h1>Skep</h1>
<p>This server runs from its sources and its dashboard is not built. Run <code>scripts/build</code>.</p>
<p><a href="docs">The API</a></p>`;

interface DashboardDeps {
  /** Paths by file name, on disk or in the executable. */
  files(): Record<string, string>;
  /** Path below which a proxy shows this server: "" or "/skep". */
  prefix: string;
}

const takesBrotli = (request: Request): boolean => /\bbr\b/.test(request.headers.get("accept-encoding") ?? "");

export function dashboardRoutes({ files, prefix }: DashboardDeps) {
  let page: Promise<{ text: string; policy: string }> | undefined;
  /** Reads the page and puts the server's prefix into its addresses. Files are read when they are first used. */
  const readPage = async () => {
    const path = files()["index.html"];
    const text = path ? (await file(path).text()).replaceAll("{{base}}", Bun.escapeHTML(`${prefix}/`)) : NOT_BUILT;
    return { text, policy: policyFor(text) };
  };
  return tagOperations("dashboard", [
    defineOperation("getDashboard", "GET /", {
      access: "public",
      hidden: true,
      handler: async () => {
        page ??= readPage();
        const { text, policy } = await page;
        return new Response(text, {
          headers: {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": policy,
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-cache",
          },
        });
      },
    }),
    defineOperation("getManifest", "GET /manifest.webmanifest", {
      access: "public",
      hidden: true,
      handler: () =>
        new Response(JSON.stringify(manifestOf(prefix, Object.keys(files()))), {
          headers: { "Content-Type": "application/manifest+json", "Cache-Control": "no-cache" },
        }),
    }),
    defineOperation("getServiceWorker", "GET /service-worker.js", {
      access: "public",
      hidden: true,
      handler: () =>
        new Response(SERVICE_WORKER, {
          headers: {
            "Content-Type": "text/javascript; charset=utf-8",
            "Content-Security-Policy": "default-src 'none'",
            "Cache-Control": "no-cache",
          },
        }),
    }),
    defineOperation("getDashboardFile", "GET /assets/:name", {
      access: "public",
      hidden: true,
      params: t.Object({ name: t.String({ maxLength: 200 }) }),
      handler: ({ params: { name }, request }) => {
        const known = files();
        const path = known[`assets/${name}`];
        const type = TYPES[name.split(".").at(-1) ?? ""];
        if (!path || !type) throw notFound("file of the dashboard");
        const small = takesBrotli(request) ? known[`assets/${name}.br`] : undefined;
        return new Response(file(small ?? path), {
          headers: {
            "Content-Type": type,
            "Cache-Control": "public, max-age=31536000, immutable",
            Vary: "Accept-Encoding",
            ...(small ? { "Content-Encoding": "br" } : {}),
          },
        });
      },
    }),
  ]);
}
