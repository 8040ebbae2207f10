import {
  backPressure,
  completedInWords,
  parseJobCommand,
  queueInWords,
  resolveTarget,
  type TaskInfo,
  taskInWords,
  taskPriorities,
  tasksInWords,
} from 'adjutant/scheduler';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const longestSpoken = 480;
const longestLine = 400;

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('\u202egnp.exe', '\n2. [running] X', '\u001b[2J', '\ud800', 'x'.repeat(100_000)),
);
const count = fc.oneof(fc.nat(30), fc.constantFrom(Number.NaN, -3, 1e300));
const instant = fc.oneof(fc.integer(), fc.constantFrom(0, -1e300, 1e300));
const task: fc.Arbitrary<TaskInfo> = fc
  .record(
    {
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      session: fc.constant('s'),
      tenant: fc.constant('default'),
      name: text,
      runnable: text,
      description: text,
      priority: fc.constantFrom(...taskPriorities),
      state: fc.constantFrom(
        ...(['queued', 'running', 'waiting', 'suspended'] as const),
        ...(['completed', 'failed', 'cancelled', 'timeout'] as const),
      ),
      queue: fc.constant('default'),
      requester: fc.constant('user:ann'),
      submittedAt: instant,
      startedAt: instant,
      completedAt: instant,
      notBefore: instant,
      attempts: count,
      roundsCompleted: count,
      maxRounds: count,
      error: fc.record({ code: fc.constant('x'), message: text }),
    },
    {
      requiredKeys: [
        ...(['id', 'session', 'tenant', 'name', 'runnable', 'priority', 'state', 'queue'] as const),
        ...(['requester', 'submittedAt', 'attempts', 'roundsCompleted'] as const),
      ],
    },
  )
  .map((fields) => fields as TaskInfo);

const numbers = fc.dictionary(fc.constantFrom('a', 'b', 'c'), count);
const wording = fc.record({
  now: fc.integer(),
  format: fc.constantFrom('spoken' as const, 'text' as const),
  positions: numbers.map((entries) => new Map(Object.entries(entries))),
  estimates: numbers.map((entries) => new Map(Object.entries(entries))),
});

const invisible = /(?!\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

test('no rendering has a control character, or is long', () => {
  fc.assert(
    fc.property(fc.array(task, { maxLength: 30 }), task, wording, (tasks, one, way) => {
      const depth = { running: tasks, queued: 3 };
      const single = [
        taskInWords(one, way),
        completedInWords(one, { now: way.now, format: way.format }),
      ];
      const several = [tasksInWords(tasks, way), queueInWords(depth, way)];
      for (const said of [...single, ...several]) {
        expect(said).not.toMatch(invisible);
        expect(said).not.toMatch(/undefined|NaN|Infinity/);
      }
      const lines = way.format === 'spoken' ? several : several.flatMap((said) => said.split('\n'));
      const longest = way.format === 'spoken' ? longestSpoken : longestLine;
      for (const line of [...single, ...lines]) {
        expect(line).not.toContain('\n');
        expect(line.length).toBeLessThanOrEqual(longest);
      }
      for (const said of several) expect(said.split('\n').length).toBeLessThanOrEqual(26);
    }),
    { numRuns: 500 },
  );
});

test('names of any kind are looked through for a target', () => {
  fc.assert(
    fc.property(fc.array(task), text, (tasks, words) => {
      const found = resolveTarget({ kind: 'named', words: words.slice(0, 200) }, tasks);
      expect(resolveTarget({ kind: 'named', words: words.slice(0, 200) }, tasks)).toEqual(found);
      if (found.kind === 'one') expect(tasks).toContain(found.task);
      if (found.kind === 'ambiguous') expect(found.candidates.length).toBeGreaterThan(1);
    }),
    { numRuns: 300 },
  );
});

describe('options are refused by name', () => {
  const refused = (call: () => unknown, message: string) => {
    expect(call).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    expect(call).toThrow(message);
  };

  test('of parseJobCommand and resolveTarget', () => {
    refused(() => parseJobCommand('x', { assistantNames: 'Annie' as never }), '`assistantNames`');
    refused(() => parseJobCommand('x', { tasks: {} as never }), '`tasks`');
    refused(() => parseJobCommand('x', { language: 'en' } as never), '`languages`');
    refused(() => resolveTarget({ kind: 'last' }, [], { for: 'list' as never }), '`for`');
  });

  test('of the renderings', () => {
    const now = 0;
    refused(() => tasksInWords([], { now } as never), '`format`');
    refused(() => tasksInWords([], { now, format: 'short' as never }), '`format`');
    refused(() => tasksInWords([], { now, format: 'text', most: 0 }), '`most`');
    refused(() => taskInWords({} as TaskInfo, undefined as never), '`now`');
    refused(() => queueInWords({} as never, { now, format: 'text' }), '`running`');
    refused(() => queueInWords({ running: [], queued: -1 }, { now, format: 'text' }), '`queued`');
    refused(() => backPressure({ queued: 1, priority: 'urgent' as never }), '`priority`');
    refused(() => backPressure({ queued: 1 } as never), '`priority`');
    const timeZone = 'Mars/Olympus';
    refused(
      () => completedInWords({} as TaskInfo, { now, format: 'text', timeZone }),
      'Europe/Berlin',
    );
  });
});
