/** Ends a campaign that hangs. The limit is generous, because on a busy machine one run can take minutes. */
const PATIENCE_MS = 240_000;

/** @throws Error with `what` if the work takes too long. */
export async function within<T>(work: Promise<T>, what: () => string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = () => new Error(`${what()} took more than ${PATIENCE_MS / 1_000} s`);
    timer = setTimeout(() => reject(error()), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
