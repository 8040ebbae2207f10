import { AbortReason } from '../../../base/cancel-scope.ts';
import { defined } from '../../../base/defined.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { DataOf } from '../../../ledger/decisions/decision-map.ts';
import type { Actor, EventDraft } from '../../../ledger/event.ts';
import { executionsOf, isToBeRetried, retryDraft } from '../../../ledger/folds/task.ts';
import type { InboxEntry } from '../../../ledger/port.ts';
import { grantDraft } from '../../frame/grants.ts';
import { notifiedDraft } from '../waiting/request-teller.ts';
import { answerOutcome, tokenRefusal, withdrawal } from './answer-item.ts';
import { deadLetterDraft, type ItemOutcome, refusal, textOf } from './item.ts';
import { messageOutcome } from './message-item.ts';
import type { InboxTarget } from './target.ts';

/**
 * Returns the events and the effect of an inbox item; `undefined` when it is left in the inbox.
 * @param left inputs that start a run and are left in the inbox, by the id of that run
 */
export function itemOutcome(
  target: InboxTarget,
  entry: InboxEntry,
  left: Map<string, InboxEntry>,
): ItemOutcome | undefined {
  switch (entry.type) {
    case 'cancel':
      return cancelOutcome(target, entry);
    case 'pause':
      return pauseOutcome(target, entry);
    case 'interrupt':
      return interruptOutcome(target, entry);
    case 'tool_input':
      return answerOutcome(target.ledger, entry);
    case 'user':
      return messageOutcome(target, entry, left);
    case 'wake':
      return { drafts: [] };
    case 'notified':
      return { drafts: [notifiedDraft(textOf(entry.data, 'requestId') ?? '')], isNote: true };
    case 'token_refused':
      return { drafts: [tokenRefusal(entry)] };
    case 'withdraw_standing':
      return { drafts: [withdrawal(entry)] };
    case 'task_control':
      return taskControl(target, entry);
    case 'grant':
    case 'revoke':
      return { drafts: [grantChange(target, entry, entry.type)] };
    case 'dead_letter':
      return { drafts: [deadLetterDraft(entry)], isNote: true };
    case 'service':
    case 'child_end': {
      const why = `Nothing in "${target.runId}" waits for a child of another session.`;
      return { drafts: [refusal(entry, why)] };
    }
  }
}

function cancelOutcome(target: InboxTarget, entry: InboxEntry): ItemOutcome {
  const { isOpen, runId } = target;
  const meant = textOf(entry.data, 'runId') ?? runId;
  if (isOpen() && meant === runId) return cancelRun(target, entry);
  // A task is begun only to be cancelled, so that its ledger tells its end.
  if (entry.data['isTask'] === true && !target.ledger.invocations.byPath.has(meant))
    return { drafts: [cancelDraft(entry, meant)] };
  const why =
    target.ledger.invocations.byPath.has(meant) || meant === runId
      ? 'had ended before it could be cancelled'
      : `"${meant}" had not begun when it was to be cancelled`;
  return { drafts: [refusal(entry, `The run ${why}.`)] };
}

function cancelRun(target: InboxTarget, entry: InboxEntry): ItemOutcome {
  const draft = cancelDraft(entry, target.runId);
  return {
    drafts: [draft],
    act: () => target.cancel(new AbortReason('cancelled', draft.reason)),
  };
}

function cancelDraft({ by, data }: InboxEntry, invocationId: string) {
  const reason = textOf(data, 'reason') ?? 'The run was cancelled.';
  return { type: 'cancel', by, invocationId, reason } as const;
}

/** Records what an operator did to a task; its place in the queue has changed with the post. */
function taskControl(target: InboxTarget, { at, by, data }: InboxEntry): ItemOutcome {
  const reasoning = textOf(data, 'reason') ?? 'An operator asked for it.';
  const invocationId = textOf(data, 'runId');
  const content = { by, reasoning, ...defined({ invocationId }) };
  switch (textOf(data, 'command')) {
    case 'suspend':
      return {
        drafts: [decision('scheduler', 'suspend', content)],
        act: () => target.suspend?.(),
        isNote: true,
      };
    case 'resume':
      return { drafts: [decision('scheduler', 'resume', content)], isNote: true };
    case 'retry':
      return retryOutcome(target, by, reasoning, textOf(data, 'runId') ?? target.runId);
    case 'join': {
      const { hardMs, key, level, onEnd, softMs } = data;
      const joined = { key, at, ...defined({ level, softMs, hardMs, onEnd }) } as DataOf<
        'scheduler',
        'coalesce'
      >;
      const why = 'An equal task was submitted before this one began.';
      const draft = decision('scheduler', 'coalesce', { ...content, reasoning: why, data: joined });
      return { drafts: [draft], isNote: true };
    }
    case 'leave':
      return { drafts: [decision('scheduler', 'leave', content)], isNote: true };
    case 'discard':
      return { drafts: [decision('scheduler', 'discard', content)], isNote: true };
    case 'move_to_front':
      return { drafts: [decision('scheduler', 'move_to_front', content)], isNote: true };
    default: {
      const priority = textOf(data, 'priority') ?? '';
      const draft = decision('scheduler', 'reprioritize', { ...content, data: { priority } });
      return { drafts: [draft], isNote: true };
    }
  }
}

function pauseOutcome(target: InboxTarget, entry: InboxEntry): ItemOutcome {
  const { isOpen, runId, ignoresPausesUpTo = 0 } = target;
  if (!isOpen())
    return { drafts: [refusal(entry, 'The run had ended before it could be paused.')] };
  if (entry.position <= ignoresPausesUpTo)
    return { drafts: [refusal(entry, 'The run was resumed after that.')] };
  const reasoning =
    textOf(entry.data, 'reason') ?? 'The run is paused: the open round ends, and no other begins.';
  return {
    drafts: [decision('run', 'pause', { by: entry.by, invocationId: runId, reasoning })],
    act: () => target.pause(),
  };
}

function interruptOutcome(target: InboxTarget, entry: InboxEntry): ItemOutcome {
  const { isOpen, runId, ignoresPausesUpTo = 0 } = target;
  const { by, data, position } = entry;
  if (!isOpen())
    return { drafts: [refusal(entry, 'The run had ended before it could be interrupted.')] };
  const isPause = data['next'] !== 'continue';
  if (isPause && position <= ignoresPausesUpTo)
    return { drafts: [refusal(entry, 'The run was resumed after that.')] };
  const reasoning =
    textOf(data, 'reason') ??
    (isPause
      ? 'The run is interrupted: the answer of its model is cut off, and no round begins.'
      : 'The answer of the model is cut off, and the run goes on with what has come since.');
  const content = { by, invocationId: runId, reasoning };
  return {
    drafts: [isPause ? decision('run', 'pause', content) : decision('run', 'interrupt', content)],
    act: () => {
      if (isPause) target.pause();
      target.interrupt();
    },
  };
}

/** Another execution of an ended task; nothing of one that is open. */
function retryOutcome(
  { ledger }: InboxTarget,
  by: Actor,
  reasoning: string,
  runId: string,
): ItemOutcome {
  const { events, invocations } = ledger;
  const end = invocations.byPath.get(runId)?.end;
  if (end === undefined || isToBeRetried(events, runId)) return { drafts: [] };
  const next = { attempt: executionsOf(events, runId) + 1, notBefore: end.at };
  return { drafts: [{ ...retryDraft(runId, next, reasoning), by }] };
}

/** Grants or revokes permissions. Those that came with an input go to the run that gets it. */
function grantChange(
  { isOpen, runId }: InboxTarget,
  { by, data }: InboxEntry,
  decision: 'grant' | 'revoke',
): EventDraft {
  const given = data['permissions'];
  const permissions = Array.isArray(given) ? given.filter((name) => typeof name === 'string') : [];
  const of = textOf(data, 'runId');
  return grantDraft(decision, {
    permissions,
    by,
    reason: textOf(data, 'reason'),
    ...(of === undefined ? {} : { runId: isOpen() ? runId : of }),
  });
}
