import type { Session } from 'adjutant';
import { defined, visibleJson } from 'adjutant/text';
import {
  auditText,
  causalGraph,
  causalMermaid,
  type ExplainedRunOptions,
  type ExplanationFor,
  explain,
  explainTo,
} from 'adjutant/views';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { SourceOptions } from '../modules/ledger-source.ts';
import { decisionTexts } from '../output/decision-lines.ts';
import { jsonLine } from '../output/json-output.ts';
import { styleFor } from '../output/style.ts';
import { firstEvents, headOf, lookAt } from './show.ts';

export interface ExplainCommandOptions extends SourceOptions {
  /** Last event that is considered, as its `seq`. Later events are left out. */
  readonly at?: number;
  /** Reader that one run is explained to. */
  readonly for?: keyof ExplanationFor;
  /** True to draw what led to what in one run. */
  readonly graph?: boolean;
  /** Run that `for` and `graph` are about. */
  readonly run?: string;
  readonly json?: boolean;
}

/**
 * `adjutant explain [session]`: shows the decisions of a session, with their reasons and
 * alternatives, or explains one of its runs to a reader. Writes nothing to the session.
 */
export function explainSession(
  host: Host,
  id: string | undefined,
  options: ExplainCommandOptions,
): Promise<number> {
  const { for: reader, graph = false, run, at, json = false } = options;
  if (run !== undefined && reader === undefined && !graph)
    throw new UsageError({
      reason: '--run belongs to --for and --graph: say which of them you want.',
    });
  return lookAt(host, id, options, (session) => {
    if (reader === undefined && !graph) return explained(host, session, options);
    const { length: upTo } = firstEvents(session, at);
    const which = { upTo, ...defined({ run }) };
    assertBegun(session, which);
    return graph ? drawn(session, which, json) : told(session, reader ?? 'user', which, json);
  });
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

function drawn(session: Session, which: ExplainedRunOptions, json: boolean): string {
  const graph = causalGraph(session, which);
  return json ? jsonLine(graph) : `${causalMermaid(graph)}\n`;
}

function told(
  session: Session,
  reader: keyof ExplanationFor,
  which: ExplainedRunOptions,
  json: boolean,
): string {
  if (reader === 'auditor') {
    const trace = explainTo('auditor', session, which);
    return json ? trace.map(jsonLine).join('') : auditText(trace);
  }
  if (reader === 'developer') {
    const explanation = explainTo('developer', session, which);
    return json ? jsonLine(explanation) : `${visibleJson(explanation, 2)}\n`;
  }
  const explanation = explainTo('user', session, which);
  return json ? jsonLine({ explanation }) : `${explanation}\n`;
}

/** @throws UsageError when there is no such run, or none at all */
function assertBegun(session: Session, { run, upTo = 0 }: ExplainedRunOptions): void {
  const begun = session.events.some(
    ({ type, invocationId, seq }) =>
      type === 'invocation_start' && seq <= upTo && (run ?? invocationId) === invocationId,
  );
  if (begun) return;
  const which = run === undefined ? 'No run' : `No run "${run}"`;
  throw new UsageError({
    reason: `${which} has begun in session "${session.id}" up to event ${upTo}.`,
  });
}
