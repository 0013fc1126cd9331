/** Regular expressions that the checker (lint-regexps.ts) does not find linear, and why each is acceptable. */
const BOUNDED = "each part is bounded, so is the work at each place";
const ANCHORED = "begins with what no part before its end can hold, so no place is read twice";
const SHORT = "only ever meets a short text: ";

export const EXCEPTIONS: Readonly<Record<string, string>> = {
  // The checker finds these slow, but they never were in measurements with its own examples.
  "/\\b(?:sk|gsk|xai|fw|tgp|pplx|rk|pk|key|or)[-_][\\w*.…-]{8,}|\\bAIza[\\w*-]{8,}|Bearer\\s+[\\w.~+/*-]{6,}=*/gi":
    ANCHORED,
  "/^(.*)\\/([A-Za-z0-9_-]{1,64})\\/?$/": `${SHORT}an address`,
  "/(\\*\\*|__|`)(.+?)\\1/g": `${SHORT}a line, of three kinds of marks`,
  "/\\[([^\\][]{1,300})\\]\\([^()\\s]{0,2000}\\)/g": BOUNDED,
  "/!\\[([^\\][]{0,300})\\]\\([^()\\s]{0,2000}\\)/g": BOUNDED,
  "/!?\\[([^[\\]]{0,300})\\]\\([^()]{0,2000}\\)/g": BOUNDED,
  "/<title[^<>]{0,200}>([^<]{1,1000})<\\/title>/i": BOUNDED,
  "/<meta[^<>]{0,100}charset=[\"']?([a-z0-9_-]{2,40})/i": BOUNDED,
  "/<dc:title>([^<]{1,1000})<\\/dc:title>/": BOUNDED,
  "/(?:^|[ \\t])#+$/": `${SHORT}a heading of 2,000 characters`,
  // The checker reached no verdict in time for these.
  "/\\[\\s*(Test|Fact|Theory|TestMethod|TestCase|Http(Get|Post|Put|Delete))\\b/": ANCHORED,
  "/@typedef\\s+\\{\\s*import\\(\\s*[\"']([^\"']+)[\"']\\s*\\)(?:\\.([\\w$]+))?\\s*\\}\\s+([\\w$]+)/g": ANCHORED,
  // Built at run time.
  "new RegExp in src/adapter/model/fingerprint.ts": "of names of ours and a fixed length",
  "new RegExp in src/adapter/sandbox/process/open-files.ts": "of a folder of ours; lines of /proc",
  "new RegExp in src/cli/terminal/style.ts": "of codes of ours",
  "new RegExp in src/core/email.ts": "the pattern of requests, which is checked as such",
  "new RegExp in src/core/json-schema.ts": "only made, to see whether it can be; it runs in the text worker",
  "new RegExp in src/feature/mcp-server/resources.ts": "of ids with a fixed length, from end to end",
  "new RegExp in src/web/ui/visible.ts": "one character",
};
