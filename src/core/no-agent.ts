/** Agent id in the rows of a command that uses no agent's sandbox. The API shows it as null. */
export const NO_AGENT = "";
