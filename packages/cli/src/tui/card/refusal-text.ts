import { type AdjutantError, isAdjutantError } from 'adjutant';
import { visibleLine } from 'adjutant/text';
import { describeFailure } from '../../failure.ts';
import type { OpenRequest } from '../feed/call-record.ts';

/** True for an input that does not fit: the form that gave it stays. */
export function isRefusedInput(error: unknown): error is AdjutantError {
  return isAdjutantError(error, 'input_mismatch');
}

/** Returns why an answer to a request was not taken, in a line. */
export function refusalText(request: OpenRequest, error: unknown): string {
  if (isRefusedInput(error)) return String(error.data['reason']);
  const what = `${visibleLine(request.name)} #${request.seq}`;
  if (isAdjutantError(error, 'may_not_decide'))
    return `${what}: only ${namesIn(error.data['mayDecide'])} may decide.`;
  if (!isAdjutantError(error, 'request_settled')) return describeFailure(error);
  const { status, by, decision } = error.data;
  if (status === 'expired') return `${what} has expired: nobody answered in time.`;
  if (status !== 'answered') return `${what} can no longer be answered: it was ${String(status)}.`;
  const author = by === undefined ? '' : ` by ${String(by)}`;
  const how = decision === undefined ? '' : ` (${String(decision)})`;
  return `${what} was answered already${author}${how}.`;
}

function namesIn(people: unknown): string {
  return Array.isArray(people) ? people.map(String).join(', ') : 'others';
}
