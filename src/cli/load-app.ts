/** The server's code, loaded by the commands that need it: the others start in a third of the time. */
export const loadApp = () => import("../app.ts");
