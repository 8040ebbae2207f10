import { defined } from '../../base/defined.ts';
import { findJsonDefect, type JsonValue } from '../../base/json.ts';
import {
  findInvalidOption,
  isAnything,
  isPositive,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import { NotJsonError, SessionBusyError } from '../../ledger/errors.ts';
import type { EventDraft, InvocationInput } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { laneMember } from '../../ledger/folds/lanes.ts';
import { takenMessage } from '../../ledger/folds/taken-message.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { Step } from '../../runnables/step.ts';
import type { CallOptions } from '../../session/body-context.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Session } from '../../session/session.ts';
import { checkValue, checkValueNow, type ValueCheck } from '../../tools/validate.ts';
import { explainPlaces } from '../../tools/validation-issue.ts';
import { InvalidInputError, InvalidRunError } from '../frame/errors.ts';

const callChecks: OptionChecks<CallOptions> = {
  message: isText,
  data: isAnything,
  key: isText,
  timeoutMs: isPositive,
};

/**
 * Checks the options of a call. A message under a misspelt name, or in the place of the options,
 * would be lost.
 * @throws InvalidRunError
 */
function assertCallOptions({ name }: Runnable, options: CallOptions): void {
  const wrong = findInvalidOption(options, callChecks);
  if (wrong !== undefined)
    throw new InvalidRunError({ refused: `"${name}" cannot be called`, reason: wrong.reason });
}

/**
 * Returns the input that a child is started with. Data for an agent or step with an `input` schema
 * is the output of that schema.
 * @throws InvalidInputError (or rejects with it), InvalidRunError, NotJsonError
 */
export function inputOf(
  runnable: Runnable,
  options: CallOptions,
): InvocationInput | undefined | Promise<InvocationInput | undefined> {
  assertCallOptions(runnable, options);
  const contract = contractOf(runnable);
  if (contract === undefined) return inputWith(runnable, options, options.data);
  const { data } = options;
  const checked = checkValueNow(contract, data) ?? checkValue(contract, data);
  if (!(checked instanceof Promise))
    return inputWith(runnable, options, fitting(runnable, checked));
  return checked.then((settled) => inputWith(runnable, options, fitting(runnable, settled)));
}

/**
 * Returns the input like `inputOf`, for children that nothing waits for.
 * @throws InvalidInputError, InvalidRunError, NotJsonError
 */
export function inputNow(runnable: Runnable, options: CallOptions): InvocationInput | undefined {
  const input = inputOf(runnable, options);
  if (!(input instanceof Promise)) return input;
  input.catch(() => undefined);
  throw new InvalidInputError({
    runnable: runnable.name,
    reason: 'its schema checks asynchronously, which only `call` and `run` can wait for',
  });
}

/**
 * Returns the data of a run, as the `input` of its agent makes it. `run` does so itself; servers
 * check with it what they are sent before anything begins.
 * @throws InvalidInputError, NotJsonError (rejects)
 */
export async function inputDataOf(runnable: Runnable, data: JsonValue): Promise<JsonValue> {
  return (await inputOf(runnable, { data }))?.data ?? null;
}

function contractOf(runnable: Runnable): Agent['input'] {
  return runnable.kind === 'agent' || runnable.kind === 'step'
    ? (runnable as Agent | Step).input
    : undefined;
}

function fitting({ name }: Runnable, checked: ValueCheck): unknown {
  if ('value' in checked) return checked.value;
  throw new InvalidInputError({
    runnable: name,
    reason: 'unusable' in checked ? checked.unusable : explainPlaces(checked.issues),
  });
}

function inputWith(
  { name }: Runnable,
  { message }: CallOptions,
  data: unknown,
): InvocationInput | undefined {
  if (message === undefined && data === undefined) return undefined;
  const defect = data === undefined ? undefined : findJsonDefect(data);
  if (defect !== undefined) throw new NotJsonError({ what: `The data for "${name}"`, ...defect });
  return {
    ...defined({ message, data: data as JsonValue | undefined }),
  };
}

/**
 * Checks that the open run of a session is of this runnable.
 * @throws SessionBusyError when it is of another one
 */
export function assertSameRunnable(
  session: Pick<Session, 'id'>,
  open: Pick<InvocationRecord, 'path' | 'kind' | 'name'>,
  runnable: Runnable,
): void {
  if (open.name === runnable.name && open.kind === runnable.kind) return;
  throw new SessionBusyError({
    session: session.id,
    owner: open.path,
    detail:
      `Session "${session.id}" has an open run of the ${open.kind} "${open.name}". Continue ` +
      `or cancel it before running the ${runnable.kind} "${runnable.name}", or run that in ` +
      "another lane: { lane: 'background' }.",
  });
}

/** Parts of a run's request that its beginning needs. */
interface RootRequest {
  readonly input: string | undefined;
  readonly data?: JsonValue | undefined;
  readonly model?: string | undefined;
  readonly isNamed: boolean;
  readonly runId: string;
  readonly lane: string;
}

/**
 * Checks that data and a model are given only to a run that begins with them.
 * @throws InvalidRunError when another run is open already
 */
export function assertMayBegin(open: InvocationRecord, { data, model, runId }: RootRequest): void {
  const option = data !== undefined ? 'data' : model !== undefined ? 'model' : undefined;
  if (option === undefined || open.path === runId) return;
  throw new InvalidRunError({
    reason:
      `\`${option}\` is what a run begins with, and the session has an open one (${open.path}); ` +
      'send it a message, or cancel it',
  });
}

/** Returns the input that the root of a run is or was started with. */
export function rootInput(
  ledger: Ledger,
  open: InvocationRecord | undefined,
  { data, runId }: RootRequest,
): InvocationInput | undefined {
  if (data !== undefined && (open === undefined || open.path === runId)) return { data };
  return ledger.resolve(open?.input) as InvocationInput | undefined;
}

/** Returns the message that a run begins with, unless it came before under the name of the run. */
export function messageDrafts(
  ledger: Ledger,
  runId: string,
  { input, isNamed, lane, runId: name }: RootRequest,
): EventDraft[] {
  if (input === undefined) return [];
  const came = isNamed && takenMessage(ledger, name, input) !== undefined;
  return came
    ? []
    : [
        {
          type: 'user',
          by: 'user',
          invocationId: runId,
          text: input,
          ...(isNamed ? { clientKey: name } : {}),
          ...laneMember(lane),
        },
      ];
}
