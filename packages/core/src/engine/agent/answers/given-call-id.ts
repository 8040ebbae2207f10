import type { BodyFrame } from '../../frame/run-context.ts';

/** Returns the prefix of the ids of the tool calls in an answer that no model gave. */
export function givenCallId({ run }: BodyFrame): string {
  return `given_${run.ledger.lastSeq}`;
}
