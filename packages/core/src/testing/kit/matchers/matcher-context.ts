/** What a matcher gives back; `message` is asked for when it fails. */
export interface MatcherResult {
  readonly pass: boolean;
  message(): string;
}

/** What vitest and jest both give their matchers as `this`. */
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

/** The runner's equality, with asymmetric matchers: that of `toEqual`. */
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
 * Whether `received` has all that `expected` has, at every depth: the equality of `toMatchObject`.
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
 * The first line of a failure, `expect(session).not.toHaveToolCall(name)`, and what is said below
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
 * A numbered list below a title, with the last entries left out where there are too many; `nothing`
 * when it is empty.
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
