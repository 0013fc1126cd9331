/** Extracts text that a model can read from a web page. Runs in the text worker, because strangers make the pages. */
import { convert } from "html-to-text";

/** Most characters of a page's markup that are read. */
const HTML_CHARACTERS = 2_000_000;

/** The page's text; null when the body is not text. @param contentType as the server sent it. */
export function readableText(contentType: string, body: Uint8Array): string | null {
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
  return /<meta[^<>]{0,100}charset=["']?([a-z0-9_-]{2,40})/i.exec(head)?.[1];
}

/** Keeps headings, lists, links and tables as plain text. Scripts, styles, navigation and pictures are left out. */
function htmlToText(html: string): string {
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
