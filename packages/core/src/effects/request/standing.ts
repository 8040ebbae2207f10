import { canonicalJson, coerceToJson } from '../../base/json.ts';
import type { EventDraft, EventOf } from '../../ledger/event.ts';
import {
  liesBelow,
  type StandingApproval,
  standingApprovals,
} from '../../ledger/folds/standing-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Tool } from '../../tools/tool.ts';
import { requestFingerprint } from './fingerprint.ts';
import { requestDecision } from './question.ts';

/** A call that needs an approval. */
interface Call {
  readonly tool: Tool;
  readonly args: unknown;
  readonly callId: string;
  readonly path: string;
}

/**
 * Returns the decision that a standing approval of the session covers a call, which is then not
 * asked about; `undefined` when none does.
 */
export function coveredDraft(
  ledger: Ledger,
  { args, callId, path, tool }: Call,
): EventDraft | undefined {
  if (tool.destructive) return undefined;
  const standing = standingApprovals(ledger.events).find((one) => covers(ledger, one, tool, args));
  if (standing === undefined) return undefined;
  const reasoning = `The call is not asked about: ${standing.by} allows calls like it.`;
  const data = { requestId: standing.id, callId, tool: tool.name };
  return requestDecision(path, 'covered', reasoning, data);
}

function covers(ledger: Ledger, standing: StandingApproval, tool: Tool, given: unknown): boolean {
  if (standing.tool !== tool.name) return false;
  const asked = ledger.events.find(
    (event): event is EventOf<'tool_yield'> =>
      event.type === 'tool_yield' && event.requestId === standing.id,
  );
  if (asked === undefined) return false;
  // It holds for one session: a fork or a copy asks again.
  if (ledger.requestId(asked.callId, asked.generation) !== asked.requestId) return false;
  const approved = ledger.resolve(asked.args);
  // Another version of the tool, or other schemas: it was not allowed to do what it does now.
  if (requestFingerprint(tool, approved) !== asked.fingerprint) return false;
  const args = coerceToJson(given).value;
  if (standing.covers === 'tool') return true;
  if (standing.covers !== 'call') return liesBelow(args, standing.covers.below);
  return canonicalJson(args) === canonicalJson(coerceToJson(approved).value);
}
