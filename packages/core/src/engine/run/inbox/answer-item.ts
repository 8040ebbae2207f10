import { defined } from '../../../base/defined.ts';
import type { JsonValue } from '../../../base/json.ts';
import { questionDraft, requestDecision, sameQuestion } from '../../../effects/request/question.ts';
import { isSaidBy, namesOf } from '../../../ledger/actor.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { StandingExtent } from '../../../ledger/decisions/runtime-decisions.ts';
import type { EventDraft, EventOf, RequestDecision } from '../../../ledger/event.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { InboxEntry } from '../../../ledger/port.ts';
import { isStandingExtent } from '../../frame/standing-extent.ts';
import { type ItemOutcome, refusal, textOf } from './item.ts';
import { resolutionDraft } from './resolution.ts';

/** Returns the outcome of an item that answers a request or resolves an unknown effect. */
export function answerOutcome(ledger: Ledger, entry: InboxEntry): ItemOutcome {
  const resolves = textOf(entry.data, 'resolves');
  if (resolves !== undefined) return { drafts: [resolution(ledger, entry, resolves)] };
  // The store has compared `settles`; the request id in the item's own data is not checked.
  const requestId = entry.settles ?? '';
  ledger.accepted.delete(requestId);
  const request = ledger.requests.get(requestId);
  if (request === undefined)
    return { drafts: [refusal(entry, 'Nothing waits for this answer any more.', { requestId })] };
  const why = whyRefused(entry, request);
  return why === undefined
    ? { drafts: [inputDraft(entry, request), ...standingDrafts(entry, request)] }
    : askAgain(ledger, entry, request, why);
}

/** Records the outcome of a call or an effect that was unknown. */
function resolution(ledger: Ledger, entry: InboxEntry, callId: string): EventDraft {
  const { happened, result } = entry.data;
  const failed = textOf(entry.data, 'failed');
  const { by, key } = entry;
  const found = { happened: happened === true, by, ...defined({ result, failed }) };
  const draft = resolutionDraft(ledger, callId, found);
  if (typeof draft !== 'string') return draft;
  const reasoning = `The outcome of "${callId}" cannot be told: ${draft}.`;
  return refusal(entry, reasoning, { callId, key, reason: draft });
}

/** Asks the same question again: in the store, the refused answer has settled it already. */
function askAgain(
  ledger: Ledger,
  entry: InboxEntry,
  request: EventOf<'tool_yield'>,
  why: string,
): ItemOutcome {
  const { requestId, invocationId = '', callId, kind } = request;
  const { draft, row } = questionDraft(ledger, sameQuestion(ledger, request));
  const again = requestDecision(invocationId, 'ask_again', `The answer is not used: ${why}`, {
    requestId,
    callId,
    kind,
  });
  return { drafts: [refusal(entry, why, { requestId }), again, draft], requests: [row] };
}

/**
 * Returns the reason why an answer is refused; `undefined` when it counts. The app checks answers
 * before it posts them, but any process can post.
 */
function whyRefused(
  { by, data }: InboxEntry,
  { request }: EventOf<'tool_yield'>,
): string | undefined {
  const { mayDecide, options } = request;
  if (mayDecide !== undefined && !mayDecide.some((id) => isSaidBy(by, id)))
    return `Only ${namesOf(mayDecide)} may answer this.`;
  const decision = textOf(data, 'decision') ?? 'answer';
  return (options as readonly string[]).includes(decision)
    ? undefined
    : `It can be answered with ${options.join(', ')} only.`;
}

/**
 * Makes the decision that an approval holds for later calls. The app checks before it posts an
 * answer, but any process can post.
 */
function standingDrafts(
  { by, data }: InboxEntry,
  { callId, invocationId, kind, name, request, requestId }: EventOf<'tool_yield'>,
): EventDraft[] {
  const always = data['always'];
  const isOffered =
    isStandingExtent(always) === undefined &&
    kind === 'approval' &&
    callId !== invocationId &&
    data['decision'] === 'approve' &&
    request.mayDecide === undefined &&
    request.destructive !== true;
  if (!isOffered) return [];
  const covers = always as StandingExtent;
  return [
    decision('request', 'standing', {
      by,
      reasoning: `${coveredCalls(name, covers)} are allowed in this session from now on.`,
      data: { requestId, tool: name, covers },
    }),
  ];
}

function coveredCalls(tool: string, covers: StandingExtent): string {
  if (covers === 'tool') return `All calls of ${tool}`;
  return covers === 'call'
    ? `Calls of ${tool} with the same arguments`
    : `Calls of ${tool} below ${covers.below}`;
}

/** Records that a standing approval was taken back. */
export function withdrawal({ by, data }: InboxEntry): EventDraft {
  const requestId = textOf(data, 'requestId') ?? '';
  const reasoning = textOf(data, 'reason') ?? 'Its calls are asked about again.';
  return decision('request', 'withdraw_standing', { by, reasoning, data: { requestId } });
}

/** Makes the event of an answer that counts. */
export function inputDraft(
  { by, at, data }: Pick<InboxEntry, 'by' | 'at' | 'data'>,
  { invocationId, callId, requestId }: EventOf<'tool_yield'>,
): EventDraft {
  const decision = textOf(data, 'decision') as RequestDecision | undefined;
  const reason = textOf(data, 'reason');
  const input = data['input'] as JsonValue | undefined;
  const text = textOf(data, 'text');
  const clientKey = textOf(data, 'clientKey');
  return {
    type: 'tool_input',
    by,
    ...defined({ invocationId }),
    callId,
    requestId,
    ...defined({ decision, input, reason, text, clientKey }),
    answeredAt: at,
  };
}

/** Records that an approval token was refused. */
export function tokenRefusal({ data }: InboxEntry): EventDraft {
  const requestId = textOf(data, 'requestId') ?? '';
  const reason = textOf(data, 'reason') ?? '';
  const reasoning = `A token for request "${requestId}" was refused: ${reason}.`;
  return decision('approval_token', 'refuse', { reasoning, data: { requestId, reason } });
}
