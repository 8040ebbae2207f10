import { type ErrorRecord, errorFromRecord } from '../../../base/error.ts';
import { findJsonDefect, type JsonObject, type JsonValue } from '../../../base/json.ts';
import {
  describeValue,
  findInvalidOption,
  isAnything,
  isListOfText,
  isNonEmptyText,
  isPositiveOrNone,
  type OptionCheck,
  type OptionChecks,
} from '../../../base/options.ts';
import { type AnySchema, jsonSchemaOf } from '../../../base/schema.ts';
import { effectAround } from '../../../effects/body-effect/limited-work.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import type {
  Approval,
  AskForApproval,
  AskForValue,
  AskOptions,
  Question,
  Sleep,
  SleepUntil,
} from '../../../runnables/waits.ts';
import { isApprovalOnExpire, isOnExpire } from '../../../tools/request-options.ts';
import { misfitOfDefault } from '../../../tools/validate.ts';
import { InvalidWaitError } from '../../frame/errors.ts';
import type { BodyWork } from './body-work.ts';
import { recordOf } from './called-child.ts';
import { startChild } from './child-start.ts';

type Asked = AskOptions & Partial<AskForApproval & AskForValue<AnySchema>>;

const textSchema: JsonObject = Object.freeze({ type: 'string' });
const isTrue: OptionCheck = (value) => (value === true ? undefined : '`true`');
const isPeople: OptionCheck = (value) =>
  isListOfText(value) === undefined && (value as readonly string[]).length > 0
    ? undefined
    : 'a list of at least one id';

const askChecks: OptionChecks<Asked> = {
  message: isNonEmptyText,
  details: (value) => (findJsonDefect(value) === undefined ? undefined : 'JSON'),
  expiresInMs: isPositiveOrNone,
  onExpire: isOnExpire,
  escalateTo: isPeople,
  mayDecide: isPeople,
  approval: isTrue,
  schema: isAnything,
};

/**
 * Asks people, and returns their answer: a checked value, or an `Approval`.
 * @throws InvalidWaitError, InvalidKeyError; AdjutantError with a code `question_…` when there is
 * no answer
 */
export async function askPeople(
  work: BodyWork,
  asker: string,
  key: string,
  given: Asked | string,
): Promise<JsonValue | Approval> {
  const options = typeof given === 'string' ? { message: given } : given;
  const question = questionOf(asker, key, options);
  if (!hasBegun(work, key)) assertDefaultFits(question);
  const record = await waitFor(work, question, undefined);
  return structuredClone(outputOf(record)) as JsonValue | Approval;
}

function questionOf(asker: string, key: string, options: Asked): Question {
  if (typeof key !== 'string' || options === undefined)
    throw new InvalidWaitError({
      what: 'question',
      reason: `the key comes first, then the question: ctx.ask('key', ${questionIn(key)})`,
    });
  const refuse = (reason: string): never => {
    throw new InvalidWaitError({ what: 'question', key, reason });
  };
  const invalid = findInvalidOption(options, askChecks);
  if (invalid !== undefined) refuse(invalid.reason);
  if (options.message === undefined) refuse('`message` must be the question');
  const { approval, schema = textSchema, ...rest } = options;
  if (approval === true && options.schema !== undefined)
    refuse('it has `approval` or a `schema`, not both');
  if (options.onExpire === 'escalate' && options.escalateTo === undefined)
    refuse("`onExpire: 'escalate'` needs `escalateTo`");
  const written = approval === true ? undefined : jsonSchemaOf(schema);
  if (written !== undefined && 'reason' in written) refuse(`\`schema\` ${written.reason}`);
  return Object.freeze({
    kind: 'question' as const,
    name: key,
    asker,
    options: rest,
    schema: approval === true ? undefined : schema,
    inputSchema: written !== undefined && 'schema' in written ? written.schema : undefined,
  });
}

/** True when the ledger has the wait already. It keeps what it began with. */
function hasBegun({ body: { place } }: BodyWork, key: string): boolean {
  return place.run.ledger.invocations.byPath.has(`${place.childRoot}/${key}`);
}

/** Checks the answer that is taken when nobody gives one. @throws InvalidWaitError */
function assertDefaultFits({ name, schema, options: { onExpire } }: Question): void {
  const refuse = (reason: string): never => {
    throw new InvalidWaitError({ what: 'question', key: name, reason });
  };
  if (schema === undefined) {
    const expected = onExpire === undefined ? undefined : isApprovalOnExpire(onExpire);
    if (expected !== undefined) refuse(`\`onExpire\` of an approval must be ${expected}`);
    return;
  }
  const misfit = misfitOfDefault(schema, onExpire);
  if (misfit !== undefined) refuse(`the default of \`onExpire\` does not fit: ${misfit}`);
}

/** Returns the question that was written in the place of a key, as it is written in its own. */
function questionIn(key: unknown): string {
  const isShort = typeof key === 'string' && key.length <= longestShown;
  return isShort ? describeValue(key) : "{ message: 'Which colour?' }";
}

/** Characters of the longest question that a message shows. */
const longestShown = 60;

/**
 * Waits for an instant. A sleep that has begun keeps its recorded end.
 * @throws InvalidWaitError, InvalidKeyError
 */
export async function sleepUntil(
  work: BodyWork,
  key: string,
  time: number | SleepUntil,
): Promise<void> {
  const { run, childRoot } = work.body.place;
  const recorded = run.ledger.invocations.byPath.get(`${childRoot}/${key}`);
  const until = instantOf(key, time, run.app.clock.now());
  const input = recorded?.kind === 'sleep' ? recorded.input : { data: { until } };
  const sleep: Sleep = Object.freeze({ kind: 'sleep' as const, name: key });
  outputOf(await waitFor(work, sleep, input));
}

/** Greatest value of a `Date`. */
const lastInstant = 8.64e15;

function instantOf(key: string, time: number | SleepUntil, now: number): number {
  if (typeof key !== 'string' || time === undefined)
    throw new InvalidWaitError({
      what: 'sleep',
      reason: `the key comes first, then the time: ctx.sleep('key', ${timeIn(key)})`,
    });
  const until =
    typeof time === 'number' ? now + time : Number((time as SleepUntil | undefined)?.until);
  const end = Math.ceil(until);
  if (Math.abs(end) <= lastInstant && !(typeof time === 'number' && time < 0)) return end;
  const reason =
    time instanceof Date
      ? `a date is given as an end: ctx.sleep('${key}', { until: date })`
      : invalidTime;
  throw new InvalidWaitError({ what: 'sleep', key, reason });
}

const invalidTime =
  'the time must be a number of milliseconds from 0, or { until } with a date or ' +
  'epoch milliseconds, and no later than dates can be';

/** Returns the time that was written in the place of a key, as it is written in its own. */
function timeIn(key: unknown): string {
  if (typeof key === 'number') return String(key);
  return typeof key === 'string' ? '60_000' : '{ until: date }';
}

/** Returns the output of a wait that has ended. @throws AdjutantError when it failed */
function outputOf({ status, output, error }: InvocationRecord): unknown {
  if (status === 'completed') return output;
  throw errorFromRecord(error as ErrorRecord);
}

/** Starts or continues a wait, and returns the record of its end. */
function waitFor(
  work: BodyWork,
  wait: Question | Sleep,
  input: InvocationRecord['input'],
): Promise<InvocationRecord> {
  const { run, childRoot } = work.body.place;
  if (effectAround(run.ledger, childRoot) !== undefined)
    throw new InvalidWaitError({
      what: wait.kind,
      key: wait.name,
      reason: 'an effect is done at once and does not use `ctx`: wait before it or after it',
    });
  const { waits } = work;
  const child = startChild(work, {
    mode: 'call',
    runnable: wait,
    input,
    options: { key: wait.name },
    scope: waits.scope,
  });
  waits.add(child.ended);
  const record = recordOf(work, child);
  // The body may end before it.
  record.catch(() => undefined);
  return record;
}
