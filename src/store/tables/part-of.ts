import { type AnySQLiteColumn, text } from "drizzle-orm/sqlite-core";

/** A column with the id of the row that this row is part of; when that row is deleted, this row is deleted too. */
export const partOf = (id: () => AnySQLiteColumn) => text().notNull().references(id, { onDelete: "cascade" });
