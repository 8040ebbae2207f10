import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { runtime, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { eventually } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Outcome } from '../in-process.ts';
import { bench, jsonLines, type RunningCli } from '../run-cli.ts';

const folder = join(import.meta.dirname, '../fixtures/tasks');
const patienceMs = 40_000;

interface Office {
  readonly log: () => string;
  readonly openGate: () => void;
  run(...args: readonly string[]): Promise<Outcome>;
  start(...args: readonly string[]): RunningCli & { readonly text: () => string };
}

/** The app of the fixture, with a store of this test. */
function office(env: Record<string, string> = {}): Office {
  const place = bench();
  const [store, log, gate] = ['office.db', 'log', 'gate'].map((name) => join(place.folder, name));
  const options = {
    cwd: folder,
    env: { TASKS_STORE: `${store}`, TASKS_LOG: `${log}`, TASKS_GATE: `${gate}`, ...env },
  };
  return {
    log: () => readFileSync(`${log}`, { encoding: 'utf8', flag: 'a+' }),
    openGate: () => writeFileSync(`${gate}`, ''),
    run: (...args) => place.run(args, options),
    start: (...args) => {
      const running = place.start(args, options);
      let text = '';
      running.child.stdout?.on('data', (more: string) => (text += more));
      return { ...running, text: () => text };
    },
  };
}

function idOf({ code, stdout, stderr }: Outcome): string {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return (jsonLines(stdout)[0] as { id: string }).id;
}

test('tasks are submitted, listed, shown and controlled in the store of this machine', async () => {
  const { run } = office();
  expect((await run('tasks')).stdout).toBe('There are no such tasks.\n');
  const id = idOf(await run('tasks', 'submit', 'writer', 'Write it', '--name', 'Report', '--json'));
  const second = await run('tasks', 'submit', 'writer', 'More', '--priority', 'high');
  expect(second.stdout).toContain('[queued, high] writer');
  const listed = await run('tasks');
  expect(listed.stdout).toMatch(/^TASK +STATE +PRIORITY/);
  expect(listed.stdout.split('\n')[2]).toMatch(
    new RegExp(`^${id} +queued +normal +system .* writer +Report$`),
  );
  expect((await run('tasks', 'move-to-front', id)).stdout).toBe(
    '"Report" goes before all others that wait.\n',
  );
  const shown = await run('tasks', 'show', id);
  expect(shown).toMatchObject({ code: 0 });
  expect(shown.stdout).toContain('[queued, normal] Report: waits');
  expect(shown.stdout).toContain('It is next.');
  expect((await run('tasks', 'suspend', id, '--reason', 'Later')).stdout).toContain('until it is');
  expect(jsonLines((await run('tasks', 'show', id, '--json')).stdout)).toMatchObject([
    { id, state: 'suspended', explanation: expect.stringContaining('suspended') },
  ]);
  expect(jsonLines((await run('tasks', 'list', '--state', 'suspended', '--json')).stdout)).toEqual([
    expect.objectContaining({ id, name: 'Report' }),
  ]);
  expect((await run('tasks', 'resume', id)).code).toBe(0);
  expect((await run('tasks', 'reprioritize', id, 'background')).stdout).toContain('background');
  expect((await run('tasks', 'cancel', id)).stdout).toContain('as soon as a worker heeds it');
});

test('a submission with the same key is the same task', async () => {
  const { run } = office();
  const submit = () =>
    run('tasks', 'submit', 'writer', 'Write', '--idempotency-key', 'a', '--delay', '1h', '--json');
  expect(idOf(await submit())).toBe(idOf(await submit()));
  const ann = await run('tasks', 'submit', 'writer', 'Write', '--requester', 'ann', '--json');
  expect(jsonLines((await run('tasks', '--requester', 'ann', '--json')).stdout)).toMatchObject([
    { id: idOf(ann), requester: 'ann' },
  ]);
  const own = await run('tasks', 'submit', 'writer', 'Write', '--session', 'desk', '--json');
  expect(jsonLines(own.stdout)).toMatchObject([{ session: 'desk' }]);
});

test.each<[string[], string]>([
  [['tasks', 'show', 'none'], 'There is no task "none"'],
  [['tasks', 'cancel', 'none'], 'There is no task "none"'],
  [['tasks', 'discard', 'none'], 'There is no task "none"'],
  [['tasks', 'submit', 'wroter', 'x'], 'did you mean writer'],
  [['tasks', 'submit', 'writer', ' '], 'It is empty'],
  [['tasks', 'submit', 'writer', 'x', '--priority', 'now'], 'Allowed choices'],
  [['tasks', 'submit', 'writer', 'x', '--delay', '5'], 'with a unit'],
  [['tasks', '--state', 'done'], 'Allowed choices'],
  [['tasks', 'reprioritize', 'none', 'urgent'], 'Allowed choices'],
  [['worker', '--slots', '0'], '1 or more'],
  [['worker', '--queues', 'a,,b'], 'It is empty'],
])('%s is refused', async (args, words) => {
  const { run } = office();
  await run('tasks', 'submit', 'writer', 'x', '--delay', '1h');
  const { code, stderr } = await run(...args);
  expect(code).not.toBe(0);
  expect(stderr).toContain(words);
});

test('an app in memory is refused by the worker, and by a submission', async () => {
  const place = bench();
  const refused = await place.run(['tasks', 'submit', 'writer', 'x'], { cwd: folder });
  expect(refused.stderr).toContain('keeps everything in memory: the task would be gone');
  const { code, stderr } = await place.run(['worker'], { cwd: folder });
  expect(code).not.toBe(0);
  expect(stderr).toContain('keeps everything in memory: no other process can give this one work');
});

test('the same commands work on the tasks of a server', async () => {
  const place = bench();
  const writer = step({ name: 'writer', execute: async (ctx) => ctx.complete('Written') });
  const app = runtime({
    app: 'office',
    store: sqlite(join(place.folder, 'served.db')),
    runnables: [writer],
    recover: 'manual',
  });
  const listening = await serve(app, { port: 0, shutdown: { graceMs: 100 } });
  onTestFinished(() => listening.close({ closeApp: true }));
  const run = (...args: string[]) => place.run([...args, '--server', listening.url]);
  const id = idOf(await run('tasks', 'submit', 'writer', 'Write', '--name', 'Report', '--json'));
  expect((await run('tasks', 'list')).stdout).toContain(id);
  expect((await run('tasks', 'suspend', id)).code).toBe(0);
  expect((await run('tasks', 'show', id)).stdout).toContain('It is suspended');
  expect((await run('tasks', 'resume', id)).code).toBe(0);
  expect((await run('tasks', 'move-to-front', id)).code).toBe(0);
  expect((await run('tasks', 'reprioritize', id, 'low', '--json')).stdout).toContain('"low"');
  expect((await run('tasks', 'discard', id)).stderr).toContain('has not ended');
  expect((await run('tasks', 'cancel', id, '--reason', 'No')).code).toBe(0);
  await Promise.all(await app.recovery.resumeStopped());
  expect((await run('tasks', 'discard', id)).stdout).toContain('is no longer listed');
  expect((await run('tasks', 'show', id)).stderr).toContain('There is no task');
  expect(await run('tasks', 'show', 'none')).toMatchObject({
    code: expect.not.toSatisfy((code: number) => code === 0),
    stderr: expect.stringContaining('There is no task'),
  });
});

describe('adjutant worker', () => {
  test('carries tasks out until a signal ends it, and tells of each', async () => {
    const { run, start } = office();
    const id = idOf(
      await run('tasks', 'submit', 'writer', 'Hi', '--name', 'Bad\u001bname', '--json'),
    );
    const other = idOf(await run('tasks', 'submit', 'writer', 'Hi', '--queue', 'mail', '--json'));
    const worker = start('worker', '--slots', '1', '--queues', 'default');
    await eventually(() => worker.text().includes('completed'), { what: 'an end', patienceMs });
    worker.child.kill('SIGTERM');
    expect(await worker.finished).toMatchObject({ code: 0, signal: null });
    const [first, begins, ended] = worker.text().split('\n');
    expect(first).toContain('Working on the app office (queues default, 1 at the same time)');
    expect(begins).toMatch(new RegExp(`^begins .*name \\(${id}\\) normal$`));
    expect(ended).toMatch(new RegExp(`^completed .*\\(${id}\\) after`));
    expect(worker.text()).not.toContain('\u001b');
    expect(jsonLines((await run('tasks', 'show', id, '--json')).stdout)).toMatchObject([
      { state: 'completed', result: 'Written: Hi' },
    ]);
    expect(jsonLines((await run('tasks', '--json')).stdout)).toMatchObject([{ id: other }]);
  });

  test.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM'])(
    'that ends by %s leaves its task to another one, which does nothing twice',
    async (signal) => {
      const { log, openGate, run, start } = office();
      const id = idOf(await run('tasks', 'submit', 'job', 'Go', '--json'));
      const first = start('worker', '--json');
      // Killed before the result of the effect is stored, nobody would know whether it took place.
      const events = async () => (await run('export', `task-${id}`)).stdout;
      while (!(await events()).includes('"tool_result"'));
      first.child.kill(signal);
      const { code } = await first.finished;
      expect(code).toBe(signal === 'SIGKILL' ? null : 0);
      expect(first.text().includes('"released"')).toBe(signal === 'SIGTERM');
      const second = start('worker', '--json');
      await eventually(() => second.text().includes('"continues"'), {
        what: 'a worker',
        patienceMs,
      });
      openGate();
      await eventually(() => second.text().includes('"ended"'), { what: 'the end', patienceMs });
      second.child.kill('SIGINT');
      expect(await second.finished).toMatchObject({ code: 0 });
      expect(log()).toBe('first\nsecond\n');
      expect(jsonLines((await run('tasks', 'show', id, '--json')).stdout)).toMatchObject([
        { state: 'completed', result: 'done' },
      ]);
    },
  );
});
