/** State while a name is being followed. */
import type { Entity } from "../engine.ts";

/** What was already asked while following a name, because names may lead in a circle. */
export type Seen = Set<string>;

/** The entity for every name from outside of the repository. */
export const EXTERNAL_ENTITY: Entity = { kind: "external" };
