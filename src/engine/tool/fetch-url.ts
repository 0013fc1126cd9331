/** `fetch_url`: a web page as text. The port checks every address; this tool only makes the page readable. */
import { Type as t } from "@sinclair/typebox";
import { maskLong } from "../../core/masking.ts";
import type { TextWork } from "../../text/client.ts";
import { defineTool } from "../tool.ts";
import description from "./fetch-url.md" with { type: "text" };

export interface FetchUrlPorts {
  /** @throws Problem for refused, unreachable or slow addresses. */
  fetchPage(
    url: string,
    signal: AbortSignal,
  ): Promise<{ url: string; status: number; contentType: string; body: Uint8Array; truncated: boolean }>;
  /** The page's text; null when the page is not text. @throws Problem when it takes too long. */
  readableText: TextWork["readableText"];
}

/** Characters per answer. */
const PART = 24_000;

export const createFetchUrlTool = ({ fetchPage, readableText }: FetchUrlPorts) =>
  defineTool({
    name: "fetch_url",
    group: "web",
    description,
    parameters: t.Object({
      url: t.String({ minLength: 1, maxLength: 4_000 }),
      offset: t.Optional(t.Integer({ minimum: 0, description: "Character to continue at. Default 0." })),
    }),
    timeoutMs: 60_000,
    async run({ url, offset = 0 }, { execution, signal, masker }) {
      const page = await fetchPage(url, signal);
      const plain = await readableText(execution.id, page.contentType, page.body);
      if (plain === null)
        return { ok: false, output: `${page.url} is ${page.contentType || "of an unknown type"}, which is not text.` };
      const text = await maskLong(masker, plain);
      const part = text.slice(offset, offset + PART);
      const end = offset + part.length;
      const more = end < text.length ? `\n\n[${text.length - end} characters more: continue with offset ${end}]` : "";
      const cut = page.truncated ? "\n[The page is longer than what is fetched; the rest is missing.]" : "";
      const head = `${page.url}\nStatus ${page.status}\n\n`;
      return { ok: page.status < 400, output: `${head}${part || "(nothing more)"}${more}${more ? "" : cut}` };
    },
  });
