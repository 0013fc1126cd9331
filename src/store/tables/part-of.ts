import { type AnySQLiteColumn, text } from "drizzle-orm/sqlite-core";

/** Column with the id of the row that its own is part of, and goes with. */
export const partOf = (id: () => AnySQLiteColumn) => text().notNull().references(id, { onDelete: "cascade" });
