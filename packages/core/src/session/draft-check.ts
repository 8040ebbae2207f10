import { AdjutantError } from '../base/error.ts';
import { findJsonDefect, isPlainObject } from '../base/json.ts';
import { NotJsonError } from '../ledger/errors.ts';
import { type EventDraft, type EventOf, type EventType, eventVersions } from '../ledger/event.ts';

/** Events for `append` that no ledger can hold. */
export class InvalidEventError extends AdjutantError {
  constructor(data: { index: number; reason: string }) {
    super('invalid_event', `Event ${data.index} cannot be appended: ${data.reason}.`, data);
  }
}

/**
 * Shape of a member: a type, one of some words, a list of objects, or an object with such members.
 */
type Kind =
  | 'string'
  | 'number'
  | 'boolean'
  | 'json'
  | 'list'
  | readonly string[]
  | { readonly each: Members }
  | { readonly of: Members };
interface Members {
  readonly [member: string]: Kind;
}

type EnvelopeMember = 'v' | 'seq' | 'id' | 'at' | 'type' | 'by';
type Required<E> = {
  [Member in keyof E]-?: object extends Pick<E, Member> ? never : Member;
}[keyof E];
type RequiredMembers<Type extends EventType> = {
  readonly [Member in Exclude<Required<EventOf<Type>>, EnvelopeMember>]: Kind;
};

/** Returns the event to check in the place of a given one. */
type ChangeDraft = (
  draft: Readonly<Record<string, unknown>>,
  index: number,
) => Readonly<Record<string, unknown>>;

const nothing = {};
const path = { invocationId: 'string' } as const;
const call = { callId: 'string', name: 'string' } as const;
const text: Kind = 'string';
const failure: Kind = { of: { name: text, code: text, message: text } };
const statuses = [
  'success',
  'partial',
  'error_transient',
  'error_permanent',
  'error_blocked',
  'timeout',
  'unknown',
];

/** Required members of each event type: folds, prompts and views rely on them. */
const required: { readonly [Type in EventType]: RequiredMembers<Type> } = {
  user: { text: 'string' },
  assistant: { agent: 'string', text: 'string' },
  thought: { agent: 'string', text: 'string', round: 'number' },
  tool_call: {
    ...call,
    agent: 'string',
    args: 'json',
    providerCallId: 'string',
    round: 'number',
    index: 'number',
  },
  tool_attempt: { callId: 'string', attempt: 'number', key: 'string', epoch: 'number' },
  tool_result: {
    ...call,
    attempt: 'number',
    result: { of: { status: statuses, content: 'json' } },
    settled: 'boolean',
    durationMs: 'number',
  },
  tool_yield: {
    ...call,
    args: 'json',
    kind: ['approval', 'input', 'result', 'recovery', 'repeat', 'limit'],
    requestId: 'string',
    generation: 'number',
    fingerprint: 'string',
    request: { of: { agent: text, summary: text, options: 'list' } },
  },
  tool_input: { callId: 'string', requestId: 'string' },
  state_change: {
    scope: 'string',
    source: ['mutation', 'observation'],
    changes: { each: { key: 'string' } },
  },
  invocation_start: {
    ...path,
    kind: [
      ...['agent', 'step', 'sequence', 'parallel', 'loop', 'plan', 'graph', 'router'],
      ...['question', 'sleep'],
    ],
    name: 'string',
    mode: ['root', 'child', 'call', 'spawn', 'dispatch', 'transfer'],
  },
  invocation_yield: { ...path, reason: ['input', 'tool_input', 'sleep', 'pause'] },
  invocation_resume: path,
  invocation_end: { ...path, status: ['completed', 'error', 'cancelled', 'transferred'] },
  invocation_reopen: { ...path, reason: 'string' },
  model_start: {
    ...path,
    agent: 'string',
    round: 'number',
    attempt: 'number',
    model: 'string',
    recipe: {
      of: {
        encoder: 'number',
        segments: { each: nothing },
        resultLimit: 'number',
        settings: 'string',
      },
    },
    estimatedInputTokens: 'number',
  },
  model_end: {
    ...path,
    round: 'number',
    attempt: 'number',
    status: ['completed', 'error', 'interrupted', 'cancelled'],
    usage: { of: { inputTokens: 'number', outputTokens: 'number' } },
    durationMs: 'number',
  },
  handoff: { from: 'string', to: 'string', depth: 'number' },
  decision: { component: 'string', decision: 'string', reasoning: 'string' },
  compaction: {
    covers: 'list',
    overlap: 'number',
    summary: 'string',
    tokensBefore: 'number',
    tokensAfter: 'number',
  },
  artifact: {
    name: 'string',
    version: 'number',
    mediaType: 'string',
    size: 'number',
    hash: 'string',
  },
  error: { error: failure, phase: 'string' },
  cancel: nothing,
  memory: { text: 'string' },
  plan: {
    ...path,
    revision: 'number',
    basedOn: 'number',
    goal: 'string',
    subtasks: { each: { id: 'string', key: 'string', description: 'string', dependsOn: 'list' } },
    diff: { of: { added: 'list', changed: 'list', removed: 'list', kept: 'list' } },
    hash: 'string',
  },
  plan_update: {
    ...path,
    revision: 'number',
    subtask: 'string',
    key: 'string',
    status: ['failed'],
    error: failure,
  },
};

/**
 * Turns events from outside into drafts: JSON throughout, with all members that readers rely on,
 * and without their places in another ledger.
 * @param change made to each event before it is checked
 * @throws InvalidEventError, NotJsonError
 */
export function checkDrafts(
  drafts: readonly EventDraft[],
  change?: ChangeDraft,
): readonly EventDraft[] {
  if (!Array.isArray(drafts))
    throw new InvalidEventError({
      index: 0,
      reason: `a list of events is wanted, not ${describe(drafts)}`,
    });
  return drafts.map((draft, index) => checkDraft(draft, index, change));
}

function checkDraft(given: unknown, index: number, change?: ChangeDraft): EventDraft {
  const refuse = (reason: string): never => {
    throw new InvalidEventError({ index, reason });
  };
  if (!isPlainObject(given)) return refuse('it is not an object');
  const { v: _version, seq: _seq, id: _id, at: _at, ...rest } = given;
  const draft = change?.(rest, index) ?? rest;
  const { type, by, invocationId } = draft;
  if (typeof type !== 'string' || !Object.hasOwn(eventVersions, type)) {
    return refuse(
      typeof type === 'string'
        ? `"${type}" is not an event type`
        : `\`type\` must be an event type, not ${describe(type)}`,
    );
  }
  if (typeof by !== 'string')
    return refuse(
      by === undefined ? '`by` is missing' : `\`by\` must be a string, not ${describe(by)}`,
    );
  if (invocationId !== undefined && typeof invocationId !== 'string')
    refuse(`\`invocationId\` must be a string, not ${describe(invocationId)}`);
  const defect = findJsonDefect(draft);
  if (defect !== undefined) throw new NotJsonError({ what: `Event ${index} (${type})`, ...defect });
  const reason = findMissing(draft, required[type as EventType], '');
  if (reason !== undefined) refuse(`${reason} in an event of type "${type}"`);
  return draft as EventDraft;
}

function findMissing(
  object: Readonly<Record<string, unknown>>,
  members: Members,
  prefix: string,
): string | undefined {
  for (const [member, kind] of Object.entries(members)) {
    const reason = findWrong(object[member], kind, prefix + member);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Returns the defect of a member, if it has one. */
function findWrong(value: unknown, kind: Kind, name: string): string | undefined {
  if (value === undefined) return `\`${name}\` is missing`;
  if (kind === 'json') return undefined;
  const wrong = (wanted: string): string => `\`${name}\` must be ${wanted}, not ${describe(value)}`;
  if (typeof kind === 'string' && kind !== 'list')
    return typeof value === kind ? undefined : wrong(`a ${kind}`);
  if (kind === 'list') return Array.isArray(value) ? undefined : wrong('a list');
  if ('of' in kind)
    return isPlainObject(value) ? findMissing(value, kind.of, `${name}.`) : wrong('an object');
  if (!('each' in kind))
    return typeof value === 'string' && kind.includes(value)
      ? undefined
      : wrong(`one of ${kind.join(', ')}`);
  if (!Array.isArray(value)) return wrong('a list');
  for (const [i, part] of value.entries()) {
    const reason = findWrong(part, { of: kind.each }, `${name}[${i}]`);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const shownCharacters = 40;

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'string') return `"${value.slice(0, shownCharacters)}"`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `the ${typeof value} ${String(value)}`;
}
