/** What is observed goes on when observing it fails. */
export function quietly<Value>(observe: () => Value): Value | undefined {
  try {
    return observe();
  } catch {
    return undefined;
  }
}

/**
 * Does work, and says when it is over and what it threw; its value goes through as it is, at once
 * or later.
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
