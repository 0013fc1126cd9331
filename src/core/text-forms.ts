/** Describes the patterns of our schemas in words, so that people never read a regular expression. */

const ID = "small letters, digits and hyphens, at most 64, not a hyphen first";
const ONE_LINE = "text on one line";
const NOT_EMPTY = "text that is not empty";
const KEY = "one word of letters, digits and signs, without spaces, umlauts or control characters";
const EMAIL = "an e-mail address";
const MODEL = "a model as provider/model, e.g. ollama/qwen3";
const LOGIN = "a login name, e.g. octocat or octocat[bot]";

const FORMS: ReadonlyMap<string, string> = new Map([
  ["\\S", NOT_EMPTY],
  ["^[^\\x00]*\\S[^\\x00]*$", NOT_EMPTY],
  ["^[^\\r\\n\\u0000]*\\S[^\\r\\n\\u0000]*$", `${ONE_LINE}, not empty`],
  ["^[^\\S\\r\\n]*[^\\s\\u0000][^\\r\\n\\u0000]*$", `${ONE_LINE}, not empty`],
  ["^[^\\x00-\\x1f\\x7f]+$", `${ONE_LINE}, not empty`],
  ["^[^\\s\\x00-\\x1f\\x7f]([^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f])?$", `${ONE_LINE}, without spaces around it`],
  ["^\\S+$", "one word, without spaces"],
  ["^[^\\s,]+$", "one word, without spaces and commas"],
  ["^[!-~]+$", KEY],
  ["^[\\x21-\\x7e]+$", KEY],
  ["^[\\w.]{1,64}$", "letters, digits, dots and _, at most 64"],
  ["^#[0-9a-fA-F]{6}$", "a color such as #1a2b3c"],
  ["^([01]\\d|2[0-3]):[0-5]\\d$", "a time of day as HH:MM, e.g. 09:30"],
  ["^\\d{4}-\\d{2}-\\d{2}$", "a day as YYYY-MM-DD, in UTC"],
  ["^(\\*|[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*)$", "a domain such as example.org, or *"],
  [
    "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$|^[0-9A-Fa-f:.]{2,45}$|^\\[[0-9A-Fa-f:.]{2,45}\\]$",
    "a host name or an address such as example.org or 2001:db8::1, without https:// and a path",
  ],
  ["^[A-Za-z][A-Za-z0-9_+/-]{0,63}$", "a time zone such as Europe/Berlin"],
  ["^[/@!][\\w-]{1,49}$", "a word that begins with /, @ or !, e.g. /skep"],
  ["^[0-9]{6}$", "six digits"],
  ["^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(\\[bot\\])?$", LOGIN],
  ["^[A-Za-z_][A-Za-z0-9_]*$", "letters, digits and _, not a digit first"],
  ["^[A-Za-z_][A-Za-z0-9_-]{0,63}$", "letters, digits, _ and -, at most 64, a letter or _ first"],
  ["^[^\\s@<>\"']{1,64}@[^\\s@<>\"'.]+(\\.[^\\s@<>\"'.]+)*$", EMAIL],
  ["^[a-z0-9-]*$", "small letters, digits and hyphens"],
  ["^[a-z0-9][a-z0-9-]{0,63}$", ID],
  ["^[a-z][a-z0-9-]{0,39}$", "small letters, digits and hyphens, at most 40, a letter first"],
  ["^[a-z][a-z0-9_-]{0,39}$", "small letters, digits, _ and -, at most 40, a letter first"],
  ["^[a-z][a-z0-9_]{0,39}$", "small letters, digits and _, at most 40, a letter first"],
  ["^[a-z0-9][a-z0-9_-]*$", "small letters, digits, _ and -, a letter or digit first"],
  ["^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$", "letters, digits, _ and -, at most 64, a letter or digit first"],
  ["^[a-z0-9][a-z0-9-]{0,63}/\\S+$", MODEL],
  ["^[a-z0-9][a-z0-9-]{0,63}/\\S{1,200}$", MODEL],
  ["^https?://[^\\s]+$", "an address that begins with http:// or https://"],
]);

/** E.g. `an e-mail address`; undefined for a pattern that is not listed. */
export const formOf = (pattern: string): string | undefined => FORMS.get(pattern);
