import { defined } from '../base/defined.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { isDecision } from '../ledger/decisions/decision.ts';
import type { Event, EventOf } from '../ledger/event.ts';
import type { Redactor, ValuePlace } from './redactor.ts';

/**
 * Members that hold a ledger together and never have a value from outside: numbers, words of the
 * format, ids of events.
 */
const kept: ReadonlySet<string> = new Set([
  ...[
    'v',
    'seq',
    'id',
    'at',
    'type',
    'kind',
    'mode',
    'source',
    'status',
    'round',
    'index',
    'attempt',
    'settled',
    'late',
    'branch',
    'epoch',
    'deadline',
    'base',
  ],
  ...[
    'expiresAt',
    'answeredAt',
    'generation',
    'effect',
    'strategy',
    'stopReason',
    'covers',
    'replaces',
    'overlap',
    'usage',
    'cost',
    'mostCost',
    'durationMs',
  ],
  ...[
    'timeToFirstTokenMs',
    'estimated',
    'estimatedInputTokens',
    'maxOutputTokens',
    'tokensBefore',
    'tokensAfter',
    'resultLimit',
    'retryAfterMs',
  ],
  ...['depth', 'size', 'scope'],
]);

/** Members that name something: what stands in them is found again by its exact text. */
const names: ReadonlySet<string> = new Set([
  ...[
    'invocationId',
    'parent',
    'callId',
    'agent',
    'name',
    'tool',
    'fallback',
    'requestId',
    'from',
    'to',
    'component',
    'decision',
    'providerCallId',
  ],
  ...[
    'key',
    'fingerprint',
    'model',
    'flush',
    'refresh',
    'scopeId',
    'inputHash',
    'clientKey',
    'phase',
    'finishReason',
    'substitutedBy',
    'mediaType',
    'hash',
  ],
]);

const nameOnly: ValuePlace = { keys: [], isName: true };
const anywhere: ValuePlace = { keys: [] };

/**
 * Takes out of an event, with its large values in it, what rules name; what holds the ledger
 * together stays.
 */
export function redactEvent<E extends Event>(event: E, redactor: Redactor): E {
  const redacted: Record<string, unknown> = {};
  let isChanged = false;
  for (const [member, value] of Object.entries(event)) {
    redacted[member] = kept.has(member)
      ? value
      : redactMember(event, member, value as JsonValue, redactor);
    if (redacted[member] !== value) isChanged = true;
  }
  return isChanged ? (redacted as E) : event;
}

function redactMember(event: Event, member: string, value: JsonValue, redactor: Redactor): unknown {
  const data = dataPlace(event);
  switch (member) {
    case 'by':
      return redactActor(String(value), redactor);
    case 'recipe':
      return redactRecipe(value as unknown as EventOf<'model_start'>['recipe'], redactor);
    case 'reason':
      return event.type === 'invocation_yield' || event.type === 'compaction'
        ? value
        : redactor.redact(value, anywhere);
    case 'result':
      return redactParts(
        value,
        redactor,
        { status: undefined, errorType: nameOnly, effect: undefined },
        data,
      );
    case 'error':
      return redactParts(
        value,
        redactor,
        { name: nameOnly, code: nameOnly, message: anywhere },
        data,
      );
    case 'input':
      return event.type === 'invocation_start'
        ? redactParts(value, redactor, { message: anywhere, data }, data)
        : redactor.redact(value, data);
    case 'next':
      return redactNext(value, redactor);
    case 'request':
      return redactParts(value, redactor, requestParts, data);
    case 'changes':
      return redactChanges(
        value,
        redactor,
        event.type === 'state_change' ? event.scope : undefined,
      );
    case 'data':
      return isDecision(event, 'shared_state', 'refuse_write')
        ? redactRefused(value as JsonObject, redactor, data)
        : redactor.redact(value, data);
    case 'parts':
      return redactEach(value, redactor, () => ({
        type: undefined,
        mediaType: nameOnly,
        artifact: nameOnly,
      }));
    default:
      return redactor.redact(value, names.has(member) ? nameOnly : data);
  }
}

function redactChanges(value: JsonValue, redactor: Redactor, scope: string | undefined): JsonValue {
  return redactEach(value, redactor, (change) => {
    const values: ValuePlace = redactor.below(
      scope === undefined ? [] : [scope, String(change['key'])],
    );
    return {
      key: nameOnly,
      oldValue: values,
      newValue: values,
      op: undefined,
      source: undefined,
      after: undefined,
      id: nameOnly,
    };
  });
}

/** A refused write says what it was to change: it holds what a change holds. */
function redactRefused(
  { changes, ...data }: JsonObject,
  redactor: Redactor,
  place: ValuePlace,
): JsonValue {
  const redacted = redactor.redact(data, place) as JsonObject;
  return changes === undefined
    ? redacted
    : { ...redacted, changes: redactChanges(changes, redactor, String(data['scope'])) };
}

/** Arguments, results and the like lie below the name of what they were for. */
function dataPlace(event: Event): ValuePlace {
  const name = 'name' in event ? event.name : undefined;
  return name === undefined ? anywhere : { keys: [name] };
}

const requestParts = {
  agent: nameOnly,
  summary: anywhere,
  options: undefined,
  inputSchema: { keys: [], isSchema: true },
  operationId: nameOnly,
};

/** An object whose known members have places of their own; `undefined`: they stay. */
function redactParts(
  value: JsonValue,
  redactor: Redactor,
  places: Readonly<Record<string, ValuePlace | undefined>>,
  others: ValuePlace,
): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return redactor.redact(value, others) as JsonValue;
  const redacted: Record<string, JsonValue | undefined> = {};
  let isChanged = false;
  for (const [key, part] of Object.entries(value as JsonObject)) {
    const place = Object.hasOwn(places, key) ? places[key] : others;
    redacted[key] = place === undefined ? part : redactor.redact(part, place);
    if (redacted[key] !== part) isChanged = true;
  }
  return isChanged ? redacted : value;
}

/** A list of objects whose members are known. */
function redactEach(
  value: JsonValue,
  redactor: Redactor,
  places: (part: JsonObject) => Readonly<Record<string, ValuePlace | undefined>>,
): JsonValue {
  if (!Array.isArray(value)) return redactor.redact(value, anywhere) as JsonValue;
  const redacted = value.map((part: JsonValue) =>
    redactParts(part, redactor, places(part as JsonObject), anywhere),
  );
  return redacted.every((part, i) => part === value[i]) ? value : redacted;
}

function redactNext(value: JsonValue, redactor: Redactor): JsonValue {
  const { name, input } = value as { readonly name: string; readonly input?: JsonValue };
  const data: ValuePlace = { keys: [name] };
  const redacted =
    input === undefined
      ? undefined
      : redactParts(input, redactor, { message: anywhere, data }, data);
  const named = redactor.redact(name, nameOnly) as string;
  if (redacted === input && named === name) return value;
  return {
    ...(value as JsonObject),
    name: named,
    ...defined({ input: redacted }),
  };
}

/** The kind of an actor is a word of the format; what stands behind it is a name. */
function redactActor(by: string, redactor: Redactor): string {
  const colon = by.indexOf(':');
  return colon < 0
    ? by
    : `${by.slice(0, colon + 1)}${String(redactor.redact(by.slice(colon + 1), nameOnly))}`;
}

type Recipe = EventOf<'model_start'>['recipe'];

/** Contents stay under the hashes that they had: `renameHashes` names them anew. */
function redactRecipe(recipe: Recipe, redactor: Redactor): Recipe {
  if (recipe.contents === undefined) return recipe;
  let isChanged = false;
  const contents: Record<string, JsonValue> = {};
  for (const [hash, content] of Object.entries(recipe.contents)) {
    contents[hash] = redactContent(content, redactor);
    if (contents[hash] !== content) isChanged = true;
  }
  return isChanged ? { ...recipe, contents } : recipe;
}

function redactContent(content: JsonValue, redactor: Redactor): JsonValue {
  const { type, role } = content as { readonly type?: unknown; readonly role?: unknown };
  if (typeof type === 'string')
    return redactEvent(content as unknown as Event, redactor) as unknown as JsonValue;
  if (typeof role === 'string')
    return redactParts(content, redactor, { role: undefined }, anywhere);
  return redactor.redact(content, anywhere) as JsonValue;
}
