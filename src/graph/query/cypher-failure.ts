/** Explains to the author of a query why the database rejected it. */
import { EDGE_TYPES, NODE_LABELS } from "../model.ts";

/** Kuzu 0.11's message for a label or relationship that does not exist. "Table" may mean either. */
const NO_TABLE =
  /^Binder exception: (?:Table (.{1,200}) does not exist|Cannot bind (.{1,200}) as a (node|relationship) pattern label)\.$/;

/** @returns the database's message. For an unknown label or relationship, the names that exist come first. */
export function explainFailure(message: string): string {
  const [, unknown, misplaced, place] = NO_TABLE.exec(message) ?? [];
  const name = unknown ?? misplaced;
  if (name === undefined) return message;
  const kinds = [
    ...(place === "relationship" ? [] : [{ one: "label", said: `Labels: ${NODE_LABELS.join(", ")}.` }]),
    ...(place === "node" ? [] : [{ one: "relationship", said: `Relationships: ${EDGE_TYPES.join(", ")}.` }]),
  ];
  const what = kinds.map(({ one }) => one).join(" or ");
  return `there is no ${what} ${name}. ${kinds.map(({ said }) => said).join(" ")} The database says: ${message}`;
}
