/** `/`: a page that says what runs here. Public, like the health it shows; what it shows of the rest is asked with the reader's rights. */
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { ICON, PAGE, SCRIPT, STYLE } from "./page.ts";

const CSP =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const file = (body: string, type: string) => () =>
  new Response(body, {
    headers: { "Content-Type": `${type}; charset=utf-8`, "Content-Security-Policy": CSP, "Cache-Control": "no-cache" },
  });

/** @param version of this build, shown on the page. */
export function homeRoutes(base: Base, { version }: { version: string }) {
  const hidden = { access: "public", detail: { hide: true } } as const;
  return new Elysia({ name: "skep/home" })
    .use(base)
    .get("/", file(PAGE.replace("{{version}}", Bun.escapeHTML(version)), "text/html"), hidden)
    .get("/home/style.css", file(STYLE, "text/css"), hidden)
    .get("/home/script.js", file(SCRIPT, "text/javascript"), hidden)
    .get("/home/icon.svg", file(ICON, "image/svg+xml"), hidden);
}
