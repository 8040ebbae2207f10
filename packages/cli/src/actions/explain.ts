import type { Session } from 'adjutant';
import { explain } from 'adjutant/views';
import type { Host } from '../host/host.ts';
import type { SourceOptions } from '../modules/ledger-source.ts';
import { decisionTexts } from '../output/decision-lines.ts';
import { jsonLine } from '../output/json-output.ts';
import { styleFor } from '../output/style.ts';
import { firstEvents, headOf, lookAt } from './show.ts';

export interface ExplainCommandOptions extends SourceOptions {
  /** Last event that is considered, as its `seq`. Later events are left out. */
  readonly at?: number;
  readonly json?: boolean;
}

/**
 * `adjutant explain [session]`: shows the decisions of a session, with their reasons and
 * alternatives. Writes nothing to the session.
 */
export function explainSession(
  host: Host,
  id: string | undefined,
  options: ExplainCommandOptions,
): Promise<number> {
  return lookAt(host, id, options, (session) => explained(host, session, options));
}

function explained(
  host: Host,
  session: Session,
  { at, json = false }: ExplainCommandOptions,
): string {
  const { length } = firstEvents(session, at);
  const decisions = explain(session, { upTo: length });
  if (json) return decisions.map(jsonLine).join('');
  const head = headOf(styleFor(host.stdout), session, length);
  return `${[head, '', ...decisionTexts(decisions)].join('\n')}\n`;
}
