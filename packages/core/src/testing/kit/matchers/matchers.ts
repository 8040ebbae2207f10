import { toHaveAssistantText, toHaveToolCall, toHaveToolOrder } from './conversation-matchers.ts';
import { toHaveDecision, toHaveEvent } from './event-matchers.ts';
import { toMatchLedger } from './ledger-matcher.ts';
import type { MatcherResult, RunnerContext } from './matcher-context.ts';
import type { LedgerMatchers } from './matcher-types.ts';
import { toHaveState } from './state-matchers.ts';
import { toHaveStatus } from './status-matcher.ts';

/** All matchers, for `expect.extend(matchers)`. */
export const matchers: {
  readonly [Name in keyof LedgerMatchers<void>]: (
    this: RunnerContext,
    received: unknown,
    ...expected: unknown[]
  ) => MatcherResult;
} = Object.freeze({
  toHaveAssistantText,
  toHaveToolCall,
  toHaveToolOrder,
  toHaveState,
  toHaveEvent,
  toHaveStatus,
  toHaveDecision,
  toMatchLedger,
});
