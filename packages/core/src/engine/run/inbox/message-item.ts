import { defined } from '../../../base/defined.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import { hasOutcome } from '../../../ledger/folds/invocation-fold.ts';
import { laneMember } from '../../../ledger/folds/lanes.ts';
import { takenMessage } from '../../../ledger/folds/taken-message.ts';
import { taskInItem } from '../../../ledger/folds/task.ts';
import type { InboxEntry } from '../../../ledger/port.ts';
import { type ItemOutcome, refusal, textOf } from './item.ts';
import type { InboxTarget } from './target.ts';

/**
 * Returns the outcome of a message. A message to an open run is its next input; one that came too
 * late belongs to the next run.
 * @param left inputs that start a run and are left in the inbox, by the id of that run
 * @returns `undefined` when the message is left in the inbox
 */
export function messageOutcome(
  target: InboxTarget,
  entry: InboxEntry,
  left: Map<string, InboxEntry>,
): ItemOutcome | undefined {
  const { isOpen } = target;
  const { data } = entry;
  const starts = textOf(data, 'runId');
  if (starts !== undefined) {
    // The process that posted it to start a run takes it out itself. A run whose root has ended
    // does not get it, though its detached work may go on.
    const isForRun = isOpen() && isUnderWay(target) && !isOtherTask(target, starts, data);
    if (!isForRun && !left.has(starts)) left.set(starts, entry);
    if (!isForRun) return undefined;
    if (hasTakenInput(target, starts, data)) return { drafts: [] };
  }
  const refused = whyUnusable(target, entry, starts);
  if (refused !== undefined) return { drafts: [refused] };
  return {
    drafts: [messageDraft(target, entry)],
    act: data['interrupt'] === true ? () => target.interrupt() : undefined,
  };
}

/** Returns the refusal of a message that the run cannot use. */
function whyUnusable(
  { isOpen, ledger, runId }: InboxTarget,
  entry: InboxEntry,
  starts: string | undefined,
): EventDraft | undefined {
  const { data } = entry;
  if (starts !== undefined && starts !== runId && data['data'] !== undefined)
    return refusal(
      entry,
      `Another run, "${runId}", was open: it cannot be given what "${starts}" was to begin with.`,
    );
  const to = textOf(data, 'invocationId') ?? runId;
  // No prompt would ever show it.
  if (isOpen() && !ledger.invocations.byPath.has(to))
    return refusal(entry, `There is no invocation "${to}" that a message could go to.`, {
      text: textOf(data, 'text') ?? '',
    });
  return undefined;
}

function messageDraft({ isOpen, lane, runId }: InboxTarget, { by, data }: InboxEntry): EventDraft {
  const invocationId = isOpen() ? (textOf(data, 'invocationId') ?? runId) : undefined;
  const clientKey = textOf(data, 'clientKey') ?? textOf(data, 'runId');
  return {
    type: 'user',
    by,
    text: textOf(data, 'text') ?? '',
    ...defined({ invocationId, clientKey }),
    ...laneMember(lane),
  };
}

/** Checks that the input is that of a task of its own, which the open run does not get. */
function isOtherTask({ runId }: InboxTarget, starts: string, data: JsonObject): boolean {
  return starts !== runId && taskInItem(data) !== undefined;
}

/** Checks that the root itself has begun and has no outcome. */
function isUnderWay({ ledger, runId }: InboxTarget): boolean {
  return ledger.invocations.byPath.has(runId) && !hasOutcome(ledger.invocations, runId);
}

/**
 * Checks that the run which is asked for again has the input, or that it took the same message as
 * an answer.
 */
function hasTakenInput({ ledger, runId }: InboxTarget, starts: string, data: JsonObject): boolean {
  const text = textOf(data, 'text');
  return text === undefined ? starts === runId : takenMessage(ledger, starts, text) !== undefined;
}
