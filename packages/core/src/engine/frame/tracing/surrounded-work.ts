import { InvalidOptionError } from '../../../base/invalid-option.ts';
import type { Around, Operation } from '../../../runnables/operation.ts';

/**
 * Carries out work inside an `around` function. Work that is left out would leave its caller
 * waiting for ever, and work that is done twice would run a tool twice, so both are refused.
 * @throws InvalidOptionError when the function does not call its work once and return its result
 */
export async function surrounded<Result>(
  around: Around,
  operation: Operation,
  work: () => Promise<Result>,
): Promise<Result> {
  let begun: Promise<Result> | undefined;
  let isOver = false;
  const once = (): Promise<Result> => {
    if (begun !== undefined || isOver) throw notCarriedOut(operation);
    begun = work();
    // A function that does not wait for its work must not end the process when the work fails.
    begun.catch(() => undefined);
    return begun;
  };
  try {
    const given = await around(operation, once);
    // The failure of the work goes before the refusal.
    if (begun === undefined || (await begun) !== given) throw notCarriedOut(operation);
    return given;
  } finally {
    isOver = true;
  }
}

function notCarriedOut(operation: Operation): InvalidOptionError {
  const path = operation.type === 'run' ? operation.runId : operation.invocationId;
  const name = 'agent' in operation ? operation.agent : operation.name;
  const place = `${operation.type} of "${name}", "${path}"`;
  const reason = `it must call the work that it is given once, and return its result (${place})`;
  return new InvalidOptionError({ function: 'around', reason });
}
