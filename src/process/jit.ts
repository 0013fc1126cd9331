/**
 * Lets the runtime compile what runs often. The executable starts with compiling held back (`jitPolicy` in
 * build.ts), since code that runs once is not worth it. Processes that keep running call this when they have started.
 */
export const compileFromNowOn = (): void => Bun.unsafe.setJITPolicy(1);
