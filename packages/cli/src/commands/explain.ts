import type { Session } from 'adjutant';
import { explain } from 'adjutant/views';
import type { Host } from '../host.ts';
import type { SourceOptions } from '../ledger-source.ts';
import { decisionTexts } from '../output/decision-lines.ts';
import { jsonLine } from '../output/json-output.ts';
import { styleFor } from '../output/style.ts';
import { firstEvents, headOf, lookAt } from './show.ts';

export interface ExplainCommandOptions extends SourceOptions {
  /** Only the first events, up to this seq. */
  readonly at?: number;
  readonly json?: boolean;
}

/**
 * `adjutant explain [session]`: what was decided in a session, why, and what else was considered.
 * Writes nothing to it.
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
