/** Observed work goes on when observing it fails. */
export function quietly<Value>(observe: () => Value): Value | undefined {
  try {
    return observe();
  } catch {
    return undefined;
  }
}

/**
 * Does work and reports its end and its error. Its value passes through unchanged, synchronously or
 * later.
 */
export function telling<Result>(work: () => Result, over: (thrown: unknown) => void): Result {
  const tell = (thrown?: unknown): void => void quietly(() => over(thrown));
  let result: Result;
  try {
    result = work();
  } catch (thrown) {
    tell(thrown);
    throw thrown;
  }
  if (result instanceof Promise) result.then(() => tell(), tell);
  else tell();
  return result;
}
