/**
 * Turns on JIT compilation of code that runs often. The executable starts with compilation held back (`jitPolicy` in
 * build.ts), since compiling code that runs once does not pay.
 * Long-running processes call this once they have started.
 */
export const compileFromNowOn = (): void => Bun.unsafe.setJITPolicy(1);
