import type { ServerRequest } from '@adjutant/server/client';
import type { Me } from '../../api/me.ts';
import type { Copied } from '../../components/copy/copied-text.ts';
import { fullTime, plural } from '../../components/format.ts';

export type Decision = ServerRequest['options'][number];

/** Words of a decision: on its button, and once it was made. */
export const decisionWords: Readonly<Record<Decision, readonly [string, string]>> = {
  approve: ['Approve', 'approved'],
  edit: ['Approve edited', 'approved with changes'],
  reject: ['Reject', 'rejected'],
  answer: ['Answer', 'answered'],
  succeeded: ['It has taken effect', 'said that it has taken effect'],
  retry: ['Try again', 'said that it be tried again'],
  report: ['Nobody knows', 'said that nobody knows what became of it'],
  continue: ['Continue', 'let it continue'],
  expire: ['Expire', 'expired'],
  escalate: ['Escalate', 'escalated'],
  cancel: ['Cancel', 'cancelled'],
};

export const kindWords: Readonly<Record<ServerRequest['kind'], string>> = {
  approval: 'Approval',
  input: 'Question',
  result: 'Result from elsewhere',
  recovery: 'Unknown outcome',
  repeat: 'Repeat of a call',
  limit: 'Limit',
};

const actorKinds = /^(?:user|operator|trigger|runtime|model|tool)(?::|$)/;

/** An actor in its full form: a name without a kind is that of a user. */
function namedActor(name: string): string {
  return actorKinds.test(name) ? name : `user:${name}`;
}

/** The name in which the reader decides, as ledgers record it. */
export function actorOf({ id, user, isLocal }: Pick<Me, 'id' | 'user' | 'isLocal'>): string {
  if (user !== undefined) return `user:${user}`;
  if (isLocal) return 'operator';
  return `operator:${id.replace(/^jwt:/, '')}`;
}

/** An actor as people name it: `operator:ann` is ann. */
export function personOf(actor: string): string {
  return actor.replace(/^(?:user|operator):(?=.)/, '');
}

type Asked = Pick<ServerRequest, 'mayDecide' | 'status' | 'expiresAt'>;

/** True when a request names the reader, or nobody. */
export function isMine(me: Me | undefined, { mayDecide }: Asked): boolean {
  if (me === undefined || mayDecide === undefined) return true;
  return mayDecide.map(namedActor).includes(actorOf(me));
}

/** Returns why the reader cannot answer a request, or `undefined`. */
export function unlessAnswerable(
  me: Me | undefined,
  request: Asked,
  now: number,
): string | undefined {
  if (request.status !== 'pending') return 'It is settled.';
  if (request.expiresAt !== undefined && request.expiresAt <= now) return 'Its time is over.';
  if (me !== undefined && !me.permissions.includes('operate'))
    return `Your key is a ${me.roles[0] ?? 'viewer'}’s. Approving takes an operator.`;
  if (!isMine(me, request))
    return `Only ${(request.mayDecide ?? []).map(personOf).join(', ')} may decide.`;
  return undefined;
}

/** Puts those first whose time ends first; those without an end by their age. */
export function soonestFirst(requests: readonly ServerRequest[]): readonly ServerRequest[] {
  return requests.toSorted(
    (a, b) =>
      (a.expiresAt ?? Number.POSITIVE_INFINITY) - (b.expiresAt ?? Number.POSITIVE_INFINITY) ||
      a.createdAt - b.createdAt ||
      0,
  );
}

/** True when a request has a text in what people see of it. */
export function hasText({ summary, name, agent, session }: ServerRequest, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return `${summary}\n${name}\n${agent}\n${session}`.toLowerCase().includes(wanted);
}

const amount = { type: 'number', description: 'By how much more. Empty: as much again.' };

/** Kind of text that an answer can have, and the decision that takes it. */
export function editOf(
  request: ServerRequest,
): { readonly decision: 'edit' | 'answer' | 'continue'; readonly schema: unknown } | undefined {
  const { options, inputSchema } = request;
  if (options.includes('edit')) return { decision: 'edit', schema: inputSchema };
  if (options.includes('answer')) return { decision: 'answer', schema: inputSchema ?? {} };
  if (options.includes('continue')) return { decision: 'continue', schema: amount };
  return undefined;
}

/** Why several requests cannot be answered by one decision, or `undefined`. */
export function unlessAll(
  requests: readonly ServerRequest[],
  decision: Decision,
): string | undefined {
  const other = requests.find(({ options }) => !options.includes(decision));
  return other === undefined
    ? undefined
    : `“${other.summary}” cannot be answered by “${decisionWords[decision][0]}”.`;
}

/** Outcome of one answer of several. */
type Outcome =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly problem: Readonly<Record<string, unknown>> };

/** Says what became of one decision for several requests. */
export function batchOutcome(
  decision: 'approve' | 'reject',
  outcomes: readonly Outcome[],
): { readonly text: string; readonly isFailure?: true } {
  const word = decisionWords[decision][1];
  const refused = outcomes.flatMap((one) => (one.accepted ? [] : [one.problem]));
  const accepted = outcomes.length - refused.length;
  const done = word.charAt(0).toUpperCase() + word.slice(1);
  const [first] = refused;
  if (first === undefined) return { text: `${done}: ${plural(accepted, 'request')}.` };
  return {
    text:
      `${done}: ${accepted} of ${plural(outcomes.length, 'request')}. ` +
      `Not answered: ${refused.length}. ${String(first['detail'])}`,
    isFailure: true,
  };
}

/** A request as it is copied. */
export function copiedRequest(request: ServerRequest): Copied {
  const { requestId, summary, kind, agent, session, status, options, createdAt, expiresAt } =
    request;
  return {
    title: summary,
    facts: [
      ['Kind', kindWords[kind]],
      ['Status', status],
      ['Asked by', `${agent} in ${session}, ${fullTime(createdAt)}`],
      ['Answer until', expiresAt === undefined ? '' : fullTime(expiresAt)],
      ['Answers', options.join(', ')],
      ['Request', requestId],
    ],
    data: request,
    request: { path: ['approvals', requestId] },
  };
}
