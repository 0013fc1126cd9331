/**
 * Lets the runtime compile what runs often. The executable begins reluctant to (`jitPolicy` in build.ts), for code that
 * runs once is not worth it; what lives on calls this when it has started.
 */
export const compileFromNowOn = (): void => Bun.unsafe.setJITPolicy(1);
