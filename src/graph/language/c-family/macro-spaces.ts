/** Name spaces that macros open and close: `LIB_BEGIN_NAMESPACE`, `LIB_END_NAMESPACE`. */

export interface MacroSpace {
  /** `#` and the macro's name. The macro's definition says which name space it opens. */
  name: string;
  start: number;
  end: number;
}

const OPENING = /(^|_)(BEGIN|OPEN|ENTER|START)(_|$)/;
const CLOSING = /(^|_)(END|CLOSE|EXIT|LEAVE)(_|$)/;

/** The parts of a text between an opening and a closing macro, each of which stands on a line of its own. */
export function macroSpaces(text: string): readonly MacroSpace[] {
  if (!text.includes("NAMESPACE")) return [];
  const found: MacroSpace[] = [];
  for (const line of text.matchAll(/^[ \t]*([A-Z_][A-Z0-9_]*)[ \t\r]*(?:\/[/*].*)?$/gm)) {
    const name = line[1]!;
    if (!name.includes("NAMESPACE", 1) && !/^NAMESPACE_./.test(name)) continue;
    if (OPENING.test(name)) found.push({ name: `#${name}`, start: line.index, end: text.length });
    else if (CLOSING.test(name)) {
      const open = found.findLast((one) => one.end === text.length);
      if (open) open.end = line.index;
    }
  }
  return found;
}

/**
 * The name space that a macro's text opens; "" if it opens none. Inline name spaces count as part of the one around.
 */
export function spaceOfMacro(value: string): string {
  const names: string[] = [];
  for (const [, inline, name] of value.matchAll(/(\binline\s+)?\bnamespace\s+([A-Za-z_][\w:]*)\s*\{/g))
    if (!inline) names.push(name!.replaceAll("::", "."));
  return names.join(".");
}
