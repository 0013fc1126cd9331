/** The instance's own id: made once, kept in the database. Labels of containers carry it. */
import { eq } from "drizzle-orm";
import { newId } from "../core/ids.ts";
import type { Store } from "./store.ts";
import { facts } from "./tables/foundation.ts";

const NAME = "instance_id";

export function instanceId(store: Store): string {
  return store.write(({ db }) => {
    const known = db.select().from(facts).where(eq(facts.name, NAME)).get();
    if (known) return known.value;
    const value = newId("instance");
    db.insert(facts).values({ name: NAME, value }).run();
    return value;
  });
}
