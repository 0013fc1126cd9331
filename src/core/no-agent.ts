/** Stands for the agent in the rows of a command that borrows no agent's sandbox. The API shows it as null. */
export const NO_AGENT = "";
