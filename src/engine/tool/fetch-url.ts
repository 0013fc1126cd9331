/** `fetch_url`: a page of the web as text. The port judges every address; this only makes the page readable. */
import { Type as t } from "@sinclair/typebox";
import { maskLong } from "../../core/masking.ts";
import type { Tool } from "../tool.ts";
import description from "./fetch-url.md" with { type: "text" };

export interface FetchUrlPorts {
  /** @throws Problem for refused, unreachable or slow addresses. */
  fetchPage(
    url: string,
    signal: AbortSignal,
  ): Promise<{ url: string; status: number; contentType: string; body: Uint8Array; truncated: boolean }>;
}

export interface FetchUrlInput {
  url: string;
  offset?: number;
}

/** Of a page's markup, this much is read: reading it holds up everything else. */
const HTML_CHARACTERS = 1_000_000;
/** Characters of one answer. */
const PART = 24_000;

export function createFetchUrlTool({ fetchPage }: FetchUrlPorts): Tool<FetchUrlInput> {
  return {
    name: "fetch_url",
    group: "web",
    description,
    parameters: t.Object({
      url: t.String({ minLength: 1, maxLength: 4_000 }),
      offset: t.Optional(t.Integer({ minimum: 0, description: "Character to go on at. Default 0." })),
    }),
    timeoutMs: 60_000,
    async run({ url, offset = 0 }, { signal, masker }) {
      const page = await fetchPage(url, signal);
      const plain = await readableText(page.contentType, page.body);
      if (plain === null)
        return { ok: false, output: `${page.url} is ${page.contentType || "of an unknown type"}, which is no text.` };
      const text = await maskLong(masker, plain);
      const part = text.slice(offset, offset + PART);
      const end = offset + part.length;
      const more = end < text.length ? `\n\n[${text.length - end} characters more: go on with offset ${end}]` : "";
      const cut = page.truncated ? "\n[The page is longer than what is fetched; the rest is missing.]" : "";
      const head = `${page.url}\nStatus ${page.status}\n\n`;
      return { ok: page.status < 400, output: `${head}${part || "(nothing more)"}${more}${more ? "" : cut}` };
    },
  };
}

/** The page's text; null when it is none. `contentType` as the server sent it. */
export async function readableText(contentType: string, body: Uint8Array): Promise<string | null> {
  const [media = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const isHtml = media === "text/html" || media === "application/xhtml+xml";
  const isText =
    isHtml || media === "" || /^text\/|^application\/(.*\+)?(json|xml|yaml|toml|javascript|x-ndjson|x-sh)$/.test(media);
  if (!isText) return null;
  const charset = parameters
    .find((part) => part.startsWith("charset="))
    ?.slice(8)
    .replaceAll('"', "");
  const text = decoderOf(charset ?? declaredCharset(isHtml, body)).decode(body);
  if (media === "" && text.includes("\0")) return null;
  return isHtml ? htmlToText(text) : text;
}

function decoderOf(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder((charset ?? "utf-8") as Bun.Encoding);
  } catch {
    return new TextDecoder();
  }
}

function declaredCharset(isHtml: boolean, body: Uint8Array): string | undefined {
  if (!isHtml) return undefined;
  const head = Buffer.from(body.subarray(0, 1_024)).toString("latin1");
  return /<meta[^>]{0,100}charset=["']?([a-z0-9_-]{2,40})/i.exec(head)?.[1];
}

/** Headings, lists, links and tables as plain text; scripts, styles, navigation and pictures left out. */
async function htmlToText(html: string): Promise<string> {
  const { convert } = await import("html-to-text");
  const text = convert(html.slice(0, HTML_CHARACTERS), {
    wordwrap: false,
    baseElements: { selectors: ["main", "article", "body"], orderBy: "occurrence", returnDomByDefault: true },
    limits: { maxDepth: 100, maxChildNodes: 20_000, maxBaseElements: 20, ellipsis: "…" },
    selectors: [
      ...["script", "style", "noscript", "template", "svg", "img", "nav", "footer", "form", "iframe"].map(
        (selector) => ({
          selector,
          format: "skip",
        }),
      ),
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
      { selector: "a", options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
      { selector: "table", format: "block" },
      { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      ...["td", "th"].map((selector) => ({ selector, format: "inlineSurround", options: { suffix: " | " } })),
    ],
  });
  return text.replace(/\n{3,}/g, "\n\n").trim();
}
