import type { StandingExtent } from '../../ledger/decisions/runtime-decisions.ts';
import { SessionNotFoundError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import {
  namesPath,
  type StandingApproval,
  standingApprovals,
} from '../../ledger/folds/standing-fold.ts';
import type { LedgerStore, RequestRow } from '../../ledger/port.ts';
import { isQuestion } from '../../session/pending-request.ts';
import type { Tool } from '../../tools/tool.ts';
import { InvalidAnswerError } from './errors.ts';

/**
 * Checks that an answer to a request may hold for later calls.
 * @param tool the tool that asks, when this process knows it
 * @throws InvalidAnswerError
 */
export function assertMayStand(
  row: RequestRow,
  always: StandingExtent,
  tool: Tool | undefined,
): void {
  const { kind, mayDecide, name, request } = row;
  const why = whyNot();
  if (why !== undefined)
    throw new InvalidAnswerError({
      refused: 'The approval cannot hold for later calls',
      reason: why,
    });

  function whyNot(): string | undefined {
    if (isQuestion(row)) return 'a question of a step is asked for one run only';
    if (kind !== 'approval') return `only approvals can, and this asks for ${kind}`;
    if (mayDecide !== undefined) return 'only some people may decide about each of these calls';
    if (tool?.destructive === true || request.destructive === true)
      return `the tool ${name} is destructive: each of its calls is asked about`;
    const schema = tool?.inputSchema ?? request.inputSchema;
    const properties = (schema as { readonly properties?: object } | undefined)?.properties;
    const hasPath = properties === undefined || Object.keys(properties).some(namesPath);
    return typeof always === 'object' && !hasPath
      ? `the tool ${name} has no argument such as \`path\` that could lie below a folder`
      : undefined;
  }
}

/** Reads the standing approvals of a session. @throws SessionNotFoundError */
export async function readStanding(
  store: LedgerStore,
  { app, session }: { readonly app: string; readonly session: string },
): Promise<readonly StandingApproval[]> {
  if ((await store.head(session)) === undefined) throw new SessionNotFoundError({ session, app });
  const decisions: Event[] = [];
  for await (const page of store.read(session))
    for (const event of page) if (event.type === 'decision') decisions.push(event);
  return standingApprovals(decisions);
}
