import type { RequestAnswer, RequestEntry } from 'adjutant';
import type { Host } from '../host/host.ts';
import { jsonLine } from './json-output.ts';
import { plainLine } from './plain-text.ts';

const saidOf: Readonly<Record<string, string>> = {
  approve: 'Approved',
  reject: 'Rejected',
  edit: 'Approved with changes',
};

type Answered = Pick<RequestEntry, 'requestId' | 'session' | 'name' | 'summary'>;

/** Reports that a request is answered. */
export function sayAnswered(
  host: Host,
  { json }: { readonly json?: boolean },
  { requestId, session, name, summary }: Answered,
  decision: RequestAnswer['decision'] = 'answer',
): void {
  if (json) host.stdout.write(jsonLine({ type: 'answered', requestId, decision, session, name }));
  else host.stdout.write(`${saidOf[decision] ?? 'Answered'}: ${plainLine(summary)}\n`);
}
