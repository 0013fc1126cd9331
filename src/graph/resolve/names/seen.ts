/** What is known while a name is followed. */
import type { Entity } from "../engine.ts";

/** What was asked on the way: names may lead in a circle. */
export type Seen = Set<string>;

/** A name from outside of the repository. */
export const EXTERNAL_ENTITY: Entity = { kind: "external" };
