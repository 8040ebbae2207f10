/** The result of a matcher; the runner calls `message` when the matcher fails. */
export interface MatcherResult {
  readonly pass: boolean;
  message(): string;
}

/** The `this` that vitest and jest both give their matchers. */
export interface RunnerContext {
  readonly isNot?: boolean | undefined;
  readonly promise?: string | undefined;
  readonly customTesters?: readonly unknown[] | undefined;
  equals(received: unknown, expected: unknown, testers?: never[]): boolean;
  readonly utils: {
    matcherHint(
      name: string,
      received?: string,
      expected?: string,
      options?: { isNot?: boolean; promise?: string },
    ): string;
    printExpected(value: unknown): string;
    printReceived(value: unknown): string;
    diff(expected: unknown, received: unknown): string | null | undefined;
    EXPECTED_COLOR(text: string): string;
    RECEIVED_COLOR(text: string): string;
    readonly iterableEquality?: unknown;
    readonly subsetEquality?: unknown;
  };
}

/** Compares two values as `toEqual` of the runner does, with asymmetric matchers. */
export function equal(
  { equals, customTesters = [], utils }: RunnerContext,
  received: unknown,
  expected: unknown,
): boolean {
  return equals(
    received,
    expected,
    [...customTesters, utils.iterableEquality].filter((tester) => tester !== undefined) as never[],
  );
}

/**
 * True when `received` has all that `expected` has, at every depth, as `toMatchObject` compares.
 */
export function contains(
  { equals, customTesters = [], utils }: RunnerContext,
  received: unknown,
  expected: unknown,
): boolean {
  const testers = [...customTesters, utils.iterableEquality, utils.subsetEquality].filter(
    (tester) => tester !== undefined,
  );
  return equals(received, expected, testers as never[]);
}

/**
 * Formats a failure: its first line, `expect(session).not.toHaveToolCall(name)`, and the text below
 * it.
 */
export function failure(
  context: RunnerContext,
  matcher: { name: string; received: string; expected: string },
  body: readonly string[],
): string {
  const { isNot = false, promise = '' } = context;
  const hint = context.utils.matcherHint(matcher.name, matcher.received, matcher.expected, {
    isNot,
    promise,
  });
  return [hint, '', ...body].join('\n');
}

/**
 * Formats a numbered list below a title. Leaves out the last entries where there are too many; an
 * empty list gives `nothing`.
 */
export function listed(
  title: string,
  lines: readonly string[],
  nothing: string,
): readonly string[] {
  if (lines.length === 0) return [nothing];
  const width = String(Math.min(lines.length, longestList)).length;
  const shown = lines
    .slice(0, longestList)
    .map((line, index) => `  ${String(index + 1).padStart(width)}. ${line}`);
  const more = lines.length - longestList;
  return [title, ...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

const longestList = 30;
