/** The labels of nodes that a name can mean, by the place where it stands. */
import type { NameSpaceOf } from "../engine.ts";

const TYPE_LABELS = new Set(["Class", "Interface", "Struct", "Enum", "Trait", "TypeAlias", "Namespace"]);
const VALUE_LABELS = new Set([
  "Function",
  "Method",
  "Class",
  "Struct",
  "Enum",
  "Namespace",
  "Const",
  "Variable",
  "Property",
  "Trait",
  "Interface",
]);
const CALL_LABELS = new Set(["Function", "Method"]);

/** The labels that a name can have as a type, a value, or a called name. */
export function labelsOf(space: NameSpaceOf): ReadonlySet<string> {
  return space === "type" ? TYPE_LABELS : space === "call" ? CALL_LABELS : VALUE_LABELS;
}
