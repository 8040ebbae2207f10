import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAdjutantError } from '../../../src/base/error.ts';
import { type Event, type EventType, eventVersions } from '../../../src/ledger/event.ts';
import {
  decodeRow,
  type EventFields,
  encodeEvent,
  fieldsPerEvent,
  type StoredRow,
} from '../../../src/stores/sqlite/encoding.ts';
import { actorKinds, eventLayouts } from '../../../src/stores/sqlite/layout.ts';

/** As the database joins the columns of a row. */
function rowOf(event: Event): StoredRow {
  const fields: EventFields = [];
  encodeEvent(event, fields);
  expect(fields).toHaveLength(fieldsPerEvent);
  return JSON.parse(`[${fields.join(',')}]`) as StoredRow;
}

const paths = fc.constantFrom('run1', 'run1/support', 'run1/support/r2.0', '/odd', '=', '');
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/**
 * Events of a type with any members present, of any JSON value, known members and others, in known
 * places and odd ones.
 */
function eventsOfType(type: EventType): fc.Arbitrary<Event> {
  const { members, nested = {} } = eventLayouts[type];
  const known = Object.fromEntries(
    members.map((member) => {
      const inside = nested[member];
      if (inside === undefined) return [member, member === 'callId' ? callIds : json];
      const parts = Object.fromEntries(
        [...inside.members, 'laterMember'].map((part) => [part, json]),
      );
      return [
        member,
        fc.oneof(
          { weight: 5, arbitrary: fc.record(parts, { requiredKeys: [], noNullPrototype: true }) },
          json,
        ),
      ];
    }),
  );
  return fc
    .record(
      {
        v: fc.constant(eventVersions[type]),
        seq: fc.integer({ min: 1, max: 2 ** 40 }),
        id: fc.oneof(fc.string(), fc.string({ unit: 'binary' })),
        at: fc.nat(2 ** 50),
        type: fc.constant(type),
        by: fc.constantFrom(
          'user',
          'model',
          'tool',
          'runtime',
          'operator',
          'trigger',
          'user:42',
          'tool:"x"',
          'runtime:',
        ),
        invocationId: fc.oneof(paths, fc.string()),
        ...known,
        laterMember: json,
      },
      { requiredKeys: ['v', 'seq', 'id', 'at', 'type', 'by'] },
    )
    .map((event) => ({ ...event }) as Event);
}

const callIds = fc.oneof(
  fc.tuple(paths, fc.constantFrom('', '/r1.0', 'x', '=', '/')).map(([path, rest]) => path + rest),
  fc.string(),
);

const types = Object.keys(eventLayouts) as EventType[];

describe('encoding', () => {
  test.each(types)('%s comes back as it was', (type) => {
    fc.assert(
      fc.property(eventsOfType(type), (event) => {
        const decoded = decodeRow(rowOf(event), new Map(), 's');
        expect(decoded).toStrictEqual(event);
        expect(Object.isFrozen(decoded)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test('keeps a member named __proto__, also inside a member with a layout', () => {
    const recipe = JSON.parse('{"__proto__": "x"}') as object;
    const event = {
      v: 1,
      seq: 1,
      id: 'a',
      at: 1,
      type: 'model_start',
      by: 'user',
      recipe,
    } as Event;
    expect(decodeRow(rowOf(event), new Map(), 's')).toStrictEqual(event);
  });

  test('leaves out members that are undefined', () => {
    const event = {
      v: 1,
      seq: 1,
      id: 'a',
      at: 1,
      type: 'user',
      by: 'user',
      text: 'x',
      clientKey: undefined,
    } as unknown as Event;
    expect(decodeRow(rowOf(event), new Map(), 's')).toStrictEqual({
      v: 1,
      seq: 1,
      id: 'a',
      at: 1,
      type: 'user',
      by: 'user',
      text: 'x',
    });
  });

  test('keeps another version, which the reader then upcasts or refuses', () => {
    const event = {
      v: 9,
      seq: 3,
      id: 'a',
      at: 1,
      type: 'user',
      by: 'user',
      text: 'x',
      later: true,
    } as Event;
    expect(() => decodeRow(rowOf(event), new Map(), 's')).toThrow(/version 9 of type "user"/);
  });

  test('restores paths that are stored as the seq of an earlier event', () => {
    const call = {
      v: 1,
      seq: 5,
      id: 'a',
      at: 1,
      type: 'tool_attempt',
      invocationId: 'run/a',
      by: 'tool',
      callId: 'run/a/r1.0',
      attempt: 1,
      key: 'k',
      epoch: 1,
    };
    const [seq, at, type, actor, , ...body] = rowOf(call as Event);
    const referring: StoredRow = [seq, at, type, actor, 2, ...(body as [string])];
    expect(decodeRow(referring, new Map([[2, 'run/a']]), 's')).toStrictEqual(call);
    expect(() => decodeRow(referring, new Map(), 's')).toThrow(
      /event 2 that holds its path is missing/,
    );
  });

  test('a round of small messages is small', () => {
    const invocationId = '0123456789abcdef/assistant';
    const callId = `${invocationId}/r12.0`;
    const base = { v: 1, id: 'abcdefgh01234567', at: 1_793_000_000_000, invocationId };
    const recipe = {
      encoder: 1,
      segments: [{ history: 'ancestors', to: 60 }],
      keep: 1,
      resultLimit: 153_600,
      settings: '0123456789abcdef0123',
    };
    const usage = { inputTokens: 1_234, outputTokens: 56 };
    const round = [
      {
        type: 'model_start',
        by: 'runtime',
        agent: 'assistant',
        round: 12,
        attempt: 1,
        model: 'openai:gpt-5-mini',
        recipe,
        estimatedInputTokens: 1_234,
        maxOutputTokens: 4_096,
      },
      {
        type: 'tool_call',
        by: 'model',
        callId,
        agent: 'assistant',
        name: 'calculate',
        args: { expression: '12 + 1' },
        providerCallId: 'call_0123456789abcdef',
        round: 12,
        index: 0,
      },
      {
        type: 'model_end',
        by: 'model',
        round: 12,
        attempt: 1,
        status: 'completed',
        usage,
        cost: 0.001234,
        durationMs: 12,
        timeToFirstTokenMs: 5,
        finishReason: 'tool-calls',
      },
      {
        type: 'tool_attempt',
        by: 'runtime',
        callId,
        attempt: 1,
        key: '0123456789abcdef0123',
        deadline: 1_793_000_030_000,
        epoch: 1,
      },
      {
        type: 'tool_result',
        by: 'tool',
        callId,
        name: 'calculate',
        attempt: 1,
        result: { status: 'success', content: '13' },
        settled: true,
        durationMs: 1,
      },
    ];
    const fields: EventFields = [];
    for (const [i, event] of round.entries())
      encodeEvent({ ...base, seq: 56 + i, ...event } as Event, fields);
    const bodies = fields.filter((_, i) => i % fieldsPerEvent === fieldsPerEvent - 1).join('');
    expect(bodies.length).toBeLessThanOrEqual(600);
  });
});

describe('what a row cannot be', () => {
  const good = rowOf({ v: 1, seq: 4, id: 'a', at: 1, type: 'user', by: 'user', text: 'x' });
  test.each([
    ['of an unknown type', good.with(2, 99), /type 99 is not known/],
    ['of an unknown actor', good.with(3, 99), /actor 99 is not known/],
    ['without an id', good.with(5, 7), /body is damaged/],
    ['without a mask', good.with(6, 'x'), /body is damaged/],
    ['longer than its mask says', [...good, 1], /body is damaged/],
    ['shorter than its mask says', good.slice(0, -1), /body is damaged/],
    [
      'with extras that are no object',
      good.with(6, (good[6] as number) + 1).concat(5),
      /body is damaged/,
    ],
  ])('%s', (_, row, message) => {
    try {
      decodeRow(row as unknown as StoredRow, new Map(), 's');
      expect.unreachable();
    } catch (error) {
      expect(isAdjutantError(error, 'ledger_unreadable') && error.data).toMatchObject({
        session: 's',
        seq: 4,
      });
      expect((error as Error).message).toMatch(message);
    }
  });
});

test('the codes and places that files hold never change', () => {
  const codes = types.map(
    (type) => `${eventLayouts[type].code} ${type}: ${eventLayouts[type].members.join(' ')}`,
  );
  expect([...codes, actorKinds.join(' ')]).toMatchInlineSnapshot(`
    [
      "1 user: text parts clientKey",
      "2 assistant: agent text round output providerMetadata",
      "3 thought: agent text round providerMetadata",
      "4 tool_call: callId agent name args providerCallId round index invalid providerMetadata",
      "5 tool_attempt: callId attempt key deadline epoch",
      "6 tool_result: callId name attempt result settled late durationMs retryAfterMs next notes",
      "7 tool_yield: callId name args request expiresAt kind requestId generation fingerprint attempt",
      "8 tool_input: callId input requestId decision reason",
      "9 state_change: scope scopeId source changes flush",
      "10 invocation_start: parent kind name version mode input inputHash branch deadline",
      "11 invocation_yield: reason",
      "12 invocation_resume: deadline",
      "13 invocation_end: status output error stopReason next",
      "14 invocation_reopen: reason",
      "15 model_start: agent round attempt model recipe estimatedInputTokens maxOutputTokens",
      "16 model_end: round attempt status usage estimated cost durationMs timeToFirstTokenMs finishReason error retryAfterMs",
      "17 handoff: from to reason depth",
      "18 decision: component decision reasoning alternatives data tell",
      "19 compaction: covers overlap summary tokensBefore tokensAfter dropped strategy reason",
      "20 artifact: name version mediaType size hash",
      "21 error: error phase",
      "22 cancel: reason",
      "23 memory: text key",
      "24 plan: revision basedOn goal subtasks diff cancels hash",
      "25 plan_update: revision subtask key status error",
      "user model tool runtime operator trigger",
    ]
  `);
});
