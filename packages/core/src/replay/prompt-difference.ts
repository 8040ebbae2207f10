import { canonicalJson, type JsonObject, type JsonValue } from '../base/json.ts';
import type { EventDraft, EventOf } from '../ledger/event.ts';
import type { Difference, Divergence } from './divergence.ts';
import { isMoved, isSameJson, jsonDifferences } from './json-difference.ts';

type Start = Pick<EventOf<'model_start'>, 'agent' | 'round' | 'model' | 'attempt'>;

/** A model call as it is recorded and as it is made now. */
export interface ComparedPrompts {
  readonly before: JsonObject;
  readonly now: JsonObject;
  readonly recorded: Start;
  readonly draft: Extract<EventDraft, { type: 'model_start' }>;
}

/**
 * Names the differences of two model calls: in the model, its tools, its messages, or its settings.
 */
export function promptDivergence({
  before,
  now,
  recorded,
  draft,
}: ComparedPrompts): Omit<Divergence, 'seq' | 'path'> {
  const changes = [
    ...modelChange(recorded, draft),
    ...toolChanges(listOf(before['tools']), listOf(now['tools'])),
    ...messageChanges(listOf(before['prompt']), listOf(now['prompt'])),
    ...settingChanges(before, now),
  ];
  const where = `model call ${recorded.round} of ${recorded.agent}`;
  const what =
    changes.length === 0 ? 'attempts differ' : changes.map(({ says }) => says).join('; ');
  const differences = changes.flatMap((change) => change.differences);
  return {
    kind: 'prompt',
    subject: `In ${where}: ${what}`,
    recorded: before,
    replayed: now,
    differences,
  };
}

interface Change {
  readonly says: string;
  readonly differences: readonly Difference[];
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

function modelChange(recorded: Start, draft: Start): Change[] {
  if (recorded.model === draft.model) return [];
  const differences = [{ path: 'model', recorded: recorded.model, replayed: draft.model }];
  return [{ says: `the model is ${draft.model} and was ${recorded.model}`, differences }];
}

const nameOf = (tool: JsonObject): string => String(tool['name']);

function toolChanges(before: readonly JsonObject[], now: readonly JsonObject[]): Change[] {
  const changes: Change[] = [];
  const gone = before.filter((tool) => !now.some((other) => nameOf(other) === nameOf(tool)));
  const fresh = now.filter((tool) => !before.some((other) => nameOf(other) === nameOf(tool)));
  for (const tool of gone) {
    const renamed = fresh.find((other) => isSameTool(tool, other));
    if (renamed !== undefined) fresh.splice(fresh.indexOf(renamed), 1);
    const says =
      renamed === undefined
        ? `the tool "${nameOf(tool)}" is gone`
        : `the tool "${nameOf(tool)}" is now called "${nameOf(renamed)}"`;
    const path = `tools["${nameOf(tool)}"]`;
    changes.push({
      says,
      differences:
        renamed === undefined
          ? [{ path, recorded: tool }]
          : [{ path: `${path}.name`, recorded: nameOf(tool), replayed: nameOf(renamed) }],
    });
  }
  for (const tool of fresh)
    changes.push({
      says: `there is a new tool "${nameOf(tool)}"`,
      differences: [{ path: `tools["${nameOf(tool)}"]`, replayed: tool }],
    });
  for (const tool of before) {
    const other = now.find((candidate) => nameOf(candidate) === nameOf(tool));
    if (other !== undefined && !isSameJson(tool, other)) changes.push(toolChange(tool, other));
  }
  const names = [before.map(nameOf), now.map(nameOf)] as const;
  if (changes.length === 0 && !isSameJson([...names[0]], [...names[1]]))
    changes.push({
      says: 'the tools are in another order',
      differences: [{ path: 'tools', recorded: [...names[0]], replayed: [...names[1]] }],
    });
  return changes;
}

/** Checks that two tools differ in nothing but their names. */
function isSameTool(a: JsonObject, b: JsonObject): boolean {
  return canonicalJson({ ...a, name: '' }) === canonicalJson({ ...b, name: '' });
}

function toolChange(tool: JsonObject, other: JsonObject): Change {
  const parts = [...new Set([...Object.keys(tool), ...Object.keys(other)])].filter(
    (key) => !isSameJson(tool[key], other[key]),
  );
  const words = parts
    .map((part) => (part === 'inputSchema' ? 'the input schema' : `the ${part}`))
    .join(' and ');
  const differences = jsonDifferences(tool, other).map((difference) => ({
    ...difference,
    path: `tools["${nameOf(tool)}"].${difference.path}`,
  }));
  return { says: `${words} of the tool "${nameOf(tool)}" changed`, differences };
}

function messageChanges(before: readonly JsonObject[], now: readonly JsonObject[]): Change[] {
  if (isSameJson([...before], [...now])) return [];
  if (isMoved(before, now)) {
    const roles = (list: readonly JsonObject[]): JsonValue => list.map(titleOf);
    return [
      {
        says: 'the messages are in another order',
        differences: [{ path: 'prompt', recorded: roles(before), replayed: roles(now) }],
      },
    ];
  }
  const system = (list: readonly JsonObject[]): JsonObject[] =>
    list.filter(({ role }) => role === 'system');
  const others = (list: readonly JsonObject[]): JsonObject[] =>
    list.filter(({ role }) => role !== 'system');
  const changes: Change[] = [];
  if (!isSameJson(system(before), system(now))) {
    const says =
      system(before).length === system(now).length
        ? 'the system prompt changed'
        : systemCountText(system(before).length, system(now).length);
    changes.push({
      says,
      differences: jsonDifferences(system(before), system(now)).map((difference) => ({
        ...difference,
        path: `system${difference.path}`,
      })),
    });
  }
  if (!isSameJson(others(before), others(now)))
    changes.push(turnChange(others(before), others(now)));
  return changes.length > 0
    ? changes
    : [
        {
          says: 'the system messages stand elsewhere',
          differences: jsonDifferences([...before], [...now]),
        },
      ];
}

function systemCountText(before: number, now: number): string {
  const today = now === 1 ? 'is 1 system message' : `are ${now} system messages`;
  return `there ${today}, and there were ${before}`;
}

function turnChange(before: readonly JsonObject[], now: readonly JsonObject[]): Change {
  const first = before.findIndex((message, at) => !isSameJson(message, now[at]));
  const at = first < 0 ? before.length : first;
  const differences = jsonDifferences([...before], [...now]).map((difference) => ({
    ...difference,
    path: `messages${difference.path}`,
  }));
  if (before.length === now.length)
    return { says: `message ${at + 1} (${roleOf(before[at] ?? now[at])}) changed`, differences };
  const count = now.length - before.length;
  const says =
    `${Math.abs(count)} message${Math.abs(count) === 1 ? '' : 's'} ` +
    `${count > 0 ? 'more' : 'fewer'}, from message ${at + 1} (${roleOf(now[at] ?? before[at])}) on`;
  return { says, differences };
}

function roleOf(message: JsonObject | undefined): string {
  return String(message?.['role'] ?? 'none');
}

/** Describes a message in a few words, for lists of messages. */
function titleOf(message: JsonObject): string {
  const text = JSON.stringify(message['content'] ?? '');
  return `${roleOf(message)}: ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
}

function settingChanges(before: JsonObject, now: JsonObject): Change[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (key) => key !== 'prompt' && key !== 'tools',
  );
  return keys.flatMap((key) => {
    if (isSameJson(before[key], now[key])) return [];
    return [
      {
        says: `the setting ${key} changed`,
        differences: jsonDifferences(before[key], now[key]).map((part) => ({
          ...part,
          path: part.path === '' ? key : `${key}.${part.path}`,
        })),
      },
    ];
  });
}
