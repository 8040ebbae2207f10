import type { JsonObject } from '../../base/json.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { noticeSend } from '../../engine/services/notices.ts';
import type { ServiceSession, ServiceStep } from '../../engine/services/service-session.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { TriggerDeclaration } from '../../ledger/decisions/service-decisions.ts';
import type { Actor } from '../../ledger/event.ts';
import type { InboxEntry, Send } from '../../ledger/port.ts';
import { cancelSend, type PlacedFiring } from './place-firing.ts';
import type { TriggerState } from './trigger-state.ts';

/** Characters of an error that a person is told of; the record of the task has all of it. */
const longestError = 1_000;

/** Records a declaration that is new. No process goes back to an older revision. */
export function declared(state: TriggerState, by: Actor, data: JsonObject): ServiceStep {
  const declaration = data['declaration'] as unknown as TriggerDeclaration;
  const hash = String(data['hash']);
  const isNew = state.status === 'deleted';
  if (!isNew && state.hashes.includes(hash)) return {};
  // One that was made meanwhile is not changed by its creation, nor one made again by its change.
  const { reason, revises } = data as { readonly reason?: string; readonly revises?: number };
  if (revises !== undefined && revises !== (isNew ? 0 : state.revision)) return {};
  const revision = isNew ? 1 : state.revision + 1;
  const { name } = declaration;
  return {
    drafts: [
      decision('trigger', 'declare', {
        by,
        reasoning: [
          isNew
            ? `The trigger "${name}" was created.`
            : `The trigger "${name}" was changed; nothing before this is considered.`,
          ...(reason === undefined ? [] : [reason]),
        ].join(' '),
        data: { declaration, hash, revision, ...(isNew ? { isNew } : {}) },
      }),
    ],
  };
}

/** Deletes a trigger, and cancels its open work. */
export function deleted(
  { open }: TriggerState,
  by: Actor,
  reasoning: string,
  now: number,
): ServiceStep {
  return {
    drafts: [decision('trigger', 'delete', { by, reasoning })],
    sends: open === undefined ? [] : [cancelSend(open, reasoning, now)],
  };
}

/** Names the caller of a firing, and the reason that was given, in the decisions about it. */
export function byCaller(placed: PlacedFiring, by: Actor, reason: unknown): PlacedFiring {
  const given = typeof reason === 'string' ? ` Reason: ${reason}` : '';
  const drafts = placed.drafts.map((draft) =>
    // The end of earlier work was found out by the way.
    draft.type !== 'decision' || draft.decision === 'end'
      ? draft
      : { ...draft, by, reasoning: `${draft.reasoning}${given}` },
  );
  return { ...placed, drafts };
}

type End = {
  readonly error?: { readonly code: string; readonly message: string };
  readonly firing: string;
  readonly session: string;
  readonly status: string;
  readonly task: string;
};

/** Records the end of a firing's work, and tells the people who are to know. */
export function ended(
  { declaration }: TriggerState,
  { data, key }: InboxEntry,
  session: ServiceSession,
): ServiceStep {
  const { error, firing, session: of, status, task } = data as unknown as End;
  const end = { firing, task, status, ...(error === undefined ? {} : { error }) };
  const reasoning = `The work of a firing has ended: ${status}.`;
  const sends: Send[] = [];
  if (declaration?.notify !== undefined) {
    const title = status === 'completed' ? 'is done' : 'has failed';
    const notice = noticeSend({
      ...declaration.notify,
      ...{ id: `${session.id}:${key}`, tenant: session.tenant, at: session.now() },
      ...{
        title: `"${declaration.name}" ${title}`,
        text: cutText(error?.message ?? '', longestError),
      },
      about: { session: of, run: task },
    });
    sends.push(notice);
  }
  return { drafts: [decision('trigger', 'end', { reasoning, data: end })], sends };
}

/** A task that was refused until its time was over: the firing is not carried out. */
export function notArrived({ open }: TriggerState, { data }: InboxEntry): ServiceStep {
  const { key, reason } = data as { readonly key: string; readonly reason: string };
  if (open === undefined || key !== `task:${open.task}`) return {};
  const { firing, task } = open;
  const reasoning = `The task of the firing could not be submitted (${reason}).`;
  const end = { firing: firing.id, task, status: 'refused' };
  return {
    drafts: [
      decision('trigger', 'refuse', { reasoning, data: { firing, reason } }),
      decision('trigger', 'end', { reasoning, data: end }),
    ],
  };
}
