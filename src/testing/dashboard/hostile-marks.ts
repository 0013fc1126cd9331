/** Hostile texts, each with a mark of its own, by which a test sees where it came out again. */

/** Would run, load or lead elsewhere, were it taken for markup, an address or a template anywhere; short ones first. */
const PARTS = [
  "\u202e<b>",
  "&amp;&nbsp;&lt;b&gt;",
  "<img src=//evil.example/m onerror=alert(1)>",
  "<script>alert(2)</script>",
  '"><svg onload=alert(3)>',
  "'-alert(4)-'",
  "javascript:alert(5)",
  "[c](javascript:alert(6)) [d](data:text/html,<script>alert(7)</script>)",
  "![i](https://evil.example/i.png) <https://evil.example/auto>",
  "</textarea></title></script><iframe srcdoc='<script>parent.alert(8)</script>'></iframe>",
  "<a href=javascript:alert(9)>a</a><form action=//evil.example><button>b</button></form>",
  "\u0007\u001b]0;title\u0007",
];

export interface Hostile {
  max?: number;
  /** Without spaces, for names that take none. */
  tight?: boolean;
  /** Without slashes and control characters, for a name of a file or a line. */
  name?: boolean;
}

export function createMarks() {
  /** What each mark stands in. */
  const places = new Map<string, string>();
  let made = 0;
  return {
    places,
    /** A new text. @param place where it goes; a recorder names it where it is a field of the API. */
    text(place = "", { max = 2_000, tight = false, name = false }: Hostile = {}): string {
      const mark = `hostile${made++}q`;
      places.set(mark, place);
      let text = mark;
      for (const part of PARTS) {
        const plain = name ? part.replace(/[/\u0000-\u001f]/g, "") : part;
        const fitting = tight ? plain.replaceAll(" ", "\u00a0") : plain;
        if (text.length + fitting.length + 1 > max) break;
        text += (tight || text === mark ? "" : " ") + fitting;
      }
      return text;
    },
  };
}
export type Marks = ReturnType<typeof createMarks>;

/** Marks in a text. */
export const marksIn = (text: string): string[] => text.match(/hostile\d+q/g) ?? [];
