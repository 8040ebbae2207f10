import { nearestName } from '../../../base/nearest-name.ts';
import { describeValue } from '../../../base/options.ts';
import { refuseUse } from './errors.ts';
import { type ReadSource, readSource } from './ledger-source.ts';
import { oneLine, shortened } from './literal.ts';
import { failure, type MatcherResult, type RunnerContext } from './matcher-context.ts';
import { wholeSnapshot } from './state-matchers.ts';

const ofResults = { whose: 'results', statuses: ['completed', 'error', 'cancelled', 'yielded'] };
const ofSessions = {
  whose: 'sessions',
  statuses: ['active', 'awaiting_input', 'sleeping', 'completed', 'error'],
};
const longestMessage = 300;

export function toHaveStatus(
  this: RunnerContext,
  received: unknown,
  expected: unknown,
): MatcherResult {
  const source = readSource('toHaveStatus', received);
  checkStatus(source, expected);
  const status = statusOf(source);
  return {
    pass: status === expected,
    message: () =>
      failure(this, { name: 'toHaveStatus', received: source.kind, expected: 'status' }, [
        `Expected status: ${this.isNot ? 'not ' : ''}${this.utils.printExpected(expected)}`,
        `Received status: ${this.utils.printReceived(status)}`,
        ...reasonsOf(source),
      ]),
  };
}

/** Refuses a status that can never be: it is a mistake, also with `.not`. */
function checkStatus({ kind, result }: ReadSource, expected: unknown): void {
  const [mine, others] = result === undefined ? [ofSessions, ofResults] : [ofResults, ofSessions];
  const known = `those of ${mine.whose} are ${mine.statuses.join(', ')}`;
  if (typeof expected !== 'string')
    refuseUse(
      'toHaveStatus',
      `the status must be a string, not ${describeValue(expected)}; ${known}`,
    );
  const status = expected as string;
  if (mine.statuses.includes(status)) return;
  if (others.statuses.includes(status))
    refuseUse(
      'toHaveStatus',
      `"${status}" is a status of ${others.whose}, and it was given a ${kind}; ${known}`,
    );
  const nearest = nearestName(status, mine.statuses);
  refuseUse(
    'toHaveStatus',
    `there is no status "${status}" ` +
      `(${nearest === undefined ? known : `did you mean "${nearest}"?`})`,
  );
}

function statusOf(source: ReadSource): unknown {
  if (source.result !== undefined) return source.result.status;
  return source.session === undefined
    ? wholeSnapshot('toHaveStatus', source).status
    : source.session.status;
}

/** Returns reasons for the status: the last error, and the requests that wait. */
function reasonsOf({ events, session, resolve }: ReadSource): readonly string[] {
  const lines: string[] = [];
  const end = events.findLast(
    (event) => event.type === 'invocation_end' && event.error !== undefined,
  );
  if (end?.type === 'invocation_end' && end.error !== undefined) {
    const { code, message } = resolve(end.error) as { code: string; message: string };
    lines.push(`The last error: ${code}: ${shortened(oneLine(String(message)), longestMessage)}`);
  }
  const stop = events.findLast(
    (event) => event.type === 'invocation_end' && event.stopReason !== undefined,
  );
  if (stop?.type === 'invocation_end') lines.push(`It stopped early: ${stop.stopReason}`);
  for (const { name, kind } of session?.pendingYieldingCalls ?? [])
    lines.push(`Waiting: ${oneLine(name)}, for ${kind}`);
  return lines.length === 0 ? [] : ['', ...lines];
}
