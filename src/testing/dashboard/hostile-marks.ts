/** Hostile texts, each with a unique mark by which a test sees where the text appears. */

/**
 * Parts that would run, load something or navigate if they were taken for markup, an address or a template. Short ones
 * come first.
 */
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
  /** Uses no spaces, for names that accept none. */
  tight?: boolean;
  /** Uses no slashes and control characters, for the name of a file or a single line. */
  name?: boolean;
}

export function createMarks() {
  /** The place in which each mark was put. */
  const places = new Map<string, string>();
  let made = 0;
  return {
    places,
    /** Creates a text. @param place where the text goes; for a field of the API, the sender fills in the place. */
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

/** The marks in a text. */
export const marksIn = (text: string): string[] => text.match(/hostile\d+q/g) ?? [];
