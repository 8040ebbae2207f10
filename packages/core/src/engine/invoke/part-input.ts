import type { JsonValue } from '../../base/json.ts';
import type { InputOrigin, InvocationInput } from '../../ledger/event.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Slot } from '../frame/invocation.ts';
import type { BodyFrame, RunContext } from '../frame/run-context.ts';
import { inputOf } from './input-contract.ts';

/** The input of a part of a sequence, parallel or loop, for its slot. */
export type PartInput = Pick<Slot, 'input' | 'inputFrom'>;

/** Data for a part, with its origin. */
export interface PartData {
  readonly data: JsonValue | undefined;
  readonly from: InputOrigin;
}

/** Returns the data that a sequence, parallel or loop was started with, for its parts. */
export function dataOfWhole({ run, record }: BodyFrame): PartData {
  return { data: run.ledger.resolve(record.input?.data) as JsonValue | undefined, from: 'parent' };
}

/**
 * Returns the input of a part. The recorded input of a part that has begun stays as it is. An agent
 * gets data only if it declares an `input`: other agents read the conversation.
 * @throws InvalidInputError (or rejects with it) when the data does not fit the part's `input`
 */
export function partInput(
  { ledger }: RunContext,
  path: string,
  runnable: Runnable,
  { data, from }: PartData,
): PartInput | Promise<PartInput> {
  const begun = ledger.invocations.byPath.get(path);
  if (begun !== undefined)
    return { input: ledger.resolve(begun.input) as InvocationInput | undefined };
  const isReader = runnable.kind === 'agent' && (runnable as Agent).input === undefined;
  if (data === undefined || isReader) return {};
  const input = inputOf(runnable, { data });
  return input instanceof Promise
    ? input.then((checked) => ({ input: checked, inputFrom: from }))
    : { input, inputFrom: from };
}
