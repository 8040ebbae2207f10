import {
  backPressure,
  completedInWords,
  queueInWords,
  type TaskInfo,
  type TaskWording,
  taskInWords,
  tasksInWords,
} from 'adjutant/scheduler';
import { describe, expect, test } from 'vitest';
import { taskInfo } from './task-info.fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = Date.UTC(2026, 10, 27, 12, 0);

const video = taskInfo({
  name: 'Summarizing that YouTube video',
  state: 'running',
  roundsCompleted: 3,
  maxRounds: 5,
});
const golf = taskInfo({ name: 'Golf courses near Bangalore', priority: 'high' });
const diary = taskInfo({ name: 'Your daily reflection', priority: 'background' });
const positions = new Map([
  [golf.id, 1],
  [diary.id, 2],
]);
const estimates = new Map([[video.id, 2 * minute]]);
const spoken: TaskWording = { now, format: 'spoken', positions, estimates };
const text: TaskWording = { now, format: 'text', positions, estimates };

describe('the list', () => {
  test('as text has a numbered line for each task', () => {
    expect(tasksInWords([video, golf, diary], text)).toBe(
      [
        '3 tasks:',
        '1. [running] Summarizing that YouTube video: round 3 of 5 done (about 60 %), ' +
          'about 2 minutes left',
        '2. [queued, high] Golf courses near Bangalore: next in line',
        "3. [queued, background] Your daily reflection: will run when I'm free",
      ].join('\n'),
    );
  });

  test.each<[string, readonly TaskInfo[], string]>([
    ['nothing', [], "I'm not working on anything right now."],
    [
      'one that runs',
      [video],
      "I'm working on Summarizing that YouTube video, about 60 percent done. " +
        'It should be done in about 2 minutes.',
    ],
    [
      'one that runs and others in line',
      [video, golf, diary],
      "I'm working on Summarizing that YouTube video, about 60 percent done. " +
        'Golf courses near Bangalore is next and one more is in line.',
    ],
    [
      'several that run',
      ['A', 'B', 'C', 'D'].map((name) => taskInfo({ name, state: 'running' })),
      "I'm working on A, B and two more.",
    ],
    [
      'some that wait, are suspended or have ended',
      [
        taskInfo({ name: 'A', state: 'waiting' }),
        taskInfo({ name: 'B', state: 'suspended' }),
        taskInfo({ name: 'C', state: 'suspended' }),
        taskInfo({ name: 'D', state: 'completed' }),
      ],
      "I'm not working on anything right now. " +
        'One task waits for an answer and two tasks are suspended.',
    ],
  ])('spoken: %s', (_, tasks, words) => {
    expect(tasksInWords(tasks, spoken)).toBe(words);
  });

  test('names the task whose place is the first, wherever it stands', () => {
    expect(tasksInWords([diary, golf], spoken)).toContain('Golf courses near Bangalore is next');
  });

  test('as text stops at the most tasks', () => {
    const tasks = Array.from({ length: 100 }, (_, index) => taskInfo({ name: `Task ${index}` }));
    const lines = tasksInWords(tasks, { ...text, most: 3 }).split('\n');
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)).toBe('… and 97 more');
    expect(tasksInWords(tasks, text).split('\n')).toHaveLength(22);
    expect(tasksInWords([], text)).toBe('There are no tasks.');
  });
});

describe('one task', () => {
  test.each<[Partial<TaskInfo>, string]>([
    [{ state: 'running' }, '[running] A'],
    [{ state: 'running', maxRounds: 5 }, '[running] A: in round 1 of 5'],
    [{ state: 'running', roundsCompleted: 4 }, '[running] A: round 4 done'],
    [
      { state: 'running', roundsCompleted: 5, maxRounds: 5 },
      '[running] A: round 5 of 5 done (about 95 %)',
    ],
    [{}, '[queued, normal] A: waits for its turn'],
    [{ id: 'third' }, '[queued, normal] A: 3rd in line, done in about 10 minutes'],
    [
      { roundsCompleted: 1, maxRounds: 4 },
      '[queued, normal] A: round 1 of 4 done (about 25 %), waits for its turn',
    ],
    [{ notBefore: now + hour }, '[queued, normal] A: starts in about an hour'],
    [{ state: 'waiting' }, '[waiting] A: waits for an answer or an event'],
    [
      { state: 'suspended', roundsCompleted: 3, maxRounds: 5 },
      '[suspended] A: round 3 of 5 done (about 60 %), goes on when you resume it',
    ],
    [{ state: 'completed', completedAt: now - 5 * minute }, '[completed] A: about 5 minutes ago'],
    [
      { state: 'failed', error: { code: 'blocked', message: 'The site is blocked.' } },
      '[failed] A: The site is blocked',
    ],
    [{ state: 'cancelled' }, '[cancelled] A'],
    [{ state: 'timeout', completedAt: now - 3 * hour }, '[timed out] A: about 3 hours ago'],
  ])('as text: %j', (fields, line) => {
    const wording: TaskWording = {
      now,
      format: 'text',
      positions: new Map([['third', 3]]),
      estimates: new Map([['third', 9.6 * minute]]),
    };
    expect(taskInWords(taskInfo({ name: 'A', ...fields }), wording)).toBe(line);
  });

  test.each<[Partial<TaskInfo>, string]>([
    [{ state: 'running' }, "I'm working on A."],
    [
      { state: 'running', id: video.id, roundsCompleted: 3, maxRounds: 5 },
      "I'm working on A, about 60 percent done. It should be done in about 2 minutes.",
    ],
    [{ id: golf.id }, 'A: next in line.'],
    [{ priority: 'low' }, "A: will run when I'm free."],
    [{ state: 'waiting' }, 'A waits for an answer or an event.'],
    [{ state: 'suspended' }, 'A is suspended. Tell me to resume it.'],
    [{ state: 'completed' }, 'A is done.'],
    [{ state: 'cancelled' }, 'A was cancelled.'],
    [{ state: 'timeout' }, 'A ran out of time.'],
    [{ state: 'failed' }, 'A has failed.'],
    [{ state: 'failed', error: { code: 'x', message: 'No luck!' } }, 'A has failed: No luck.'],
  ])('spoken: %j', (fields, sentence) => {
    expect(taskInWords(taskInfo({ name: 'A', ...fields }), spoken)).toBe(sentence);
  });

  test.each([
    [-1, 'less than a minute'],
    [0, 'less than a minute'],
    [minute, 'about a minute'],
    [7 * minute, 'about 7 minutes'],
    [17 * minute, 'about 15 minutes'],
    [55 * minute, 'about an hour'],
    [20 * hour, 'about 20 hours'],
    [72 * hour, 'about 3 days'],
  ])('rounds %d ms of estimate to %s', (estimate, words) => {
    const wording = { ...spoken, estimates: new Map([[video.id, estimate]]) };
    expect(taskInWords(video, wording)).toContain(`It should be done in ${words}.`);
  });

  test('leaves out an estimate that is no number', () => {
    const wording = { ...spoken, estimates: new Map([[video.id, Number.NaN]]) };
    expect(taskInWords(video, wording)).not.toContain('should be done');
  });
});

describe('the queue', () => {
  test('spoken', () => {
    const say = (running: readonly TaskInfo[], queued: number) =>
      queueInWords({ running, queued }, spoken);
    expect(say([], 0)).toBe("I'm free right now.");
    expect(say([], 2)).toBe("I'm not working on anything right now, but two tasks are in line.");
    expect(say([golf], 0)).toBe(
      "I'm working on Golf courses near Bangalore. Nothing else is in line.",
    );
    expect(say([golf], 1)).toBe(
      "I'm working on Golf courses near Bangalore, and one more is in line.",
    );
    expect(say([golf, diary, video], 12)).toBe(
      "I'm working on Golf courses near Bangalore, Your daily reflection and one more, " +
        'and 12 more are in line.',
    );
  });

  test('as text has the depth of each priority', () => {
    const depth = {
      running: [video],
      queued: 3,
      queuedByPriority: { low: 2, high: 1 },
      waiting: 1,
      suspended: 2,
    };
    expect(queueInWords(depth, text)).toBe(
      [
        'Running: 1',
        '- [running] Summarizing that YouTube video: round 3 of 5 done (about 60 %), ' +
          'about 2 minutes left',
        'Queued: 3 (1 high, 2 low)',
        'Waiting for an answer or an event: 1',
        'Suspended: 2',
      ].join('\n'),
    );
    expect(queueInWords({ running: [], queued: 0 }, text)).toBe('Running: 0\nQueued: 0');
  });

  test('is worth a word when it is deep or full', () => {
    const normal = { priority: 'normal' } as const;
    expect(backPressure({ ...normal, queued: 0 })).toBeUndefined();
    expect(backPressure({ ...normal, queued: 2 })).toBeUndefined();
    expect(backPressure({ ...normal, queued: 3 })).toBe(
      "I'm working on several things right now. This will take a few minutes.",
    );
    expect(backPressure({ ...normal, queued: 1, deepFrom: 1, estimateMs: 20 * minute })).toBe(
      "I'm working on several things right now. This will take about 20 minutes.",
    );
    expect(backPressure({ priority: 'background', queued: 5 })).toBe(
      "I'm working on several things right now. I'll do this when I'm free.",
    );
    expect(backPressure({ ...normal, queued: 5, isFull: true, retryAfterMs: 5 * minute })).toBe(
      "I'm working on several things right now and can't take on more. " +
        'Please ask again in about 5 minutes.',
    );
    expect(backPressure({ ...normal, queued: 5, isFull: true })).toContain('in a few minutes.');
  });
});

describe('the end of a task', () => {
  const failed = taskInfo({
    name: 'Golf courses',
    state: 'failed',
    attempts: 3,
    error: { code: 'blocked', message: 'the site keeps blocking me.' },
  });
  const berlin = { now, format: 'spoken', timeZone: 'Europe/Berlin' } as const;

  test('is told', () => {
    const done = { ...golf, state: 'completed', startedAt: now - 4 * minute, completedAt: now };
    expect(completedInWords(done as TaskInfo, { now, format: 'spoken' })).toBe(
      'By the way, I finished Golf courses near Bangalore.',
    );
    expect(completedInWords(done as TaskInfo, { now, format: 'text' })).toBe(
      'I finished Golf courses near Bangalore. It took about 4 minutes.',
    );
    expect(completedInWords({ ...golf, state: 'cancelled' }, { now, format: 'text' })).toBe(
      'Golf courses near Bangalore was cancelled.',
    );
    expect(completedInWords(golf, { now, format: 'text' })).toBe(
      'Golf courses near Bangalore is not done yet.',
    );
  });

  test('that failed names the tries, the reason and the next attempt', () => {
    expect(completedInWords(failed, { ...berlin, retryAt: now + 6 * hour })).toBe(
      "I tried three different ways but couldn't finish Golf courses: " +
        "the site keeps blocking me. I'll try again tonight.",
    );
    const { error: _, ...unknown } = failed;
    expect(completedInWords({ ...unknown, attempts: 1 }, { now, format: 'text' })).toBe(
      "I tried but couldn't finish Golf courses. I won't try again by myself.",
    );
    expect(completedInWords({ ...failed, state: 'timeout' }, { now, format: 'text' })).toBe(
      "I ran out of time for Golf courses. I won't try again by myself.",
    );
  });

  test.each([
    [1, 'in about an hour'],
    [3, 'this afternoon'],
    [6, 'tonight'],
    [14, 'tonight'],
    [20, 'tomorrow morning'],
    [26, 'tomorrow afternoon'],
    [32, 'tomorrow evening'],
    [47, 'in about 2 days'],
    [100, 'in about 4 days'],
    [1e15, `in about ${Math.round(1e15 / 24)} days`],
  ])('names an attempt %d hours later: %s', (hours, words) => {
    const wording = { ...berlin, retryAt: now + hours * hour };
    expect(completedInWords(failed, wording)).toContain(`I'll try again ${words}.`);
  });

  test('names hours when the time zone is not known', () => {
    const wording = { now, format: 'spoken', retryAt: now + 6 * hour } as const;
    expect(completedInWords(failed, wording)).toContain("I'll try again in about 6 hours.");
  });
});
