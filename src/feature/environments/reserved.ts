import { isReservedName } from "../secrets/model.ts";

/** Variables that the sandbox sets itself, or that change how programs load. */
export const reservedIn = (env: Readonly<Record<string, string>> | undefined): string[] =>
  Object.keys(env ?? {}).filter(isReservedName);
