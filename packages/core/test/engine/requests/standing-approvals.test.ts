import { agent, type Event, memoryStore, type Runtime, runtime, type Store, tool } from 'adjutant';
import { model as answer, approve, runTest, scriptedModel, user } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

interface Edit {
  readonly path: string;
  readonly text: string;
}

/** An app whose agent makes these edits, one in each round. */
function editing(
  edits: readonly Edit[],
  { more = {}, store = memoryStore() }: { readonly more?: object; readonly store?: Store } = {},
) {
  const edited: string[] = [];
  const edit = tool({
    name: 'edit',
    description: 'Edits a file',
    schema: z.object({ path: z.string(), text: z.string() }),
    approval: true,
    execute: ({ args }) => {
      edited.push(args.path);
      return 'edited';
    },
    ...more,
  });
  const rounds = edits.map((args) => ({ toolCalls: [{ name: 'edit', args: { ...args } }] }));
  const model = scriptedModel([...rounds, { text: 'done' }]);
  const coder = agent({ name: 'coder', model, tools: [edit] });
  const app = runtime({ app: 'coding', store, runnables: [coder], recover: 'manual' });
  return { app, coder, edited };
}

const of = (path: string, text = 'x'): Edit => ({ path, text });

async function pendingId(app: Runtime): Promise<string> {
  return (await app.requests.listPendingApprovals())[0]?.requestId ?? '';
}

function decisions(events: readonly Event[]): string[] {
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'request' ? event.decision : [],
  );
}

describe('an approval that holds for later calls', () => {
  test('of a tool covers all of them, and each use names it', async () => {
    const { app, coder, edited } = editing([of('a'), of('b'), of('c')]);
    await app.run(coder, { session: 's', input: 'Go' });
    const id = await pendingId(app);
    await app.requests.approve(id, { by: 'user:ann', always: 'tool' });
    const { output, session } = await app.resume('s');
    expect(output).toBe('done');
    expect(edited).toEqual(['a', 'b', 'c']);
    expect(decisions(session.events)).toEqual(['standing', 'covered', 'covered']);
    const covered = session.events.filter(
      (event) => event.type === 'decision' && event.decision === 'covered',
    );
    const rounds = [/r2\.0$/, /r3\.0$/];
    expect(covered).toMatchObject(
      rounds.map((round) => ({
        data: { requestId: id, tool: 'edit', callId: expect.stringMatching(round) },
      })),
    );
    expect(await app.requests.standing('s')).toMatchObject([
      { id, tool: 'edit', covers: 'tool', by: 'user:ann' },
    ]);
  });

  test('of one call covers equal calls only', async () => {
    const { app, coder } = editing([of('a'), of('a'), of('a', 'y')]);
    await app.run(coder, { session: 's', input: 'Go' });
    await app.requests.approve(await pendingId(app), { always: 'call' });
    const { pendingApprovals, session } = await app.resume('s');
    expect(pendingApprovals).toMatchObject([{ args: of('a', 'y') }]);
    expect(decisions(session.events)).toEqual(['standing', 'covered']);
  });

  test.each([
    ['src/money.ts', true],
    ['./src/deep/er.ts', true],
    ['src', true],
    ['srcs/money.ts', false],
    ['src/../etc/passwd', false],
    ['src/../../src/x', false],
    ['/src/money.ts', false],
    ['..\\..\\x', false],
    ['src\\money.ts', true],
    ['', false],
  ])('of a folder covers %j: %s', async (path, isCovered) => {
    const { app, coder } = editing([of('src/a.ts'), of(path)]);
    await app.run(coder, { session: 's', input: 'Go' });
    await app.requests.approve(await pendingId(app), { always: { below: 'src/' } });
    const { status } = await app.resume('s');
    expect(status).toBe(isCovered ? 'completed' : 'yielded');
  });

  test('of the present folder covers no absolute path', async () => {
    const { app, coder } = editing([of('src/a.ts'), of('b.ts'), of('/etc/passwd')]);
    await app.run(coder, { session: 's', input: 'Go' });
    await app.requests.approve(await pendingId(app), { always: { below: '.' } });
    expect(await app.resume('s')).toMatchObject({
      pendingApprovals: [{ args: { path: '/etc/passwd' } }],
    });
  });

  test('is taken back, and then its calls are asked about again', async () => {
    const { app, coder } = editing([of('a'), of('b')]);
    await app.run(coder, { session: 's', input: 'Go' });
    const id = await pendingId(app);
    await app.requests.approve(id, { always: 'tool' });
    await expect(app.requests.withdraw(id)).rejects.toMatchObject({ code: 'invalid_answer' });
    await app.resume('s');
    await app.requests.withdraw(id, { by: 'ann', reason: 'enough' });
    await app.run(coder, { session: 's', input: 'Again' });
    expect(await app.requests.standing('s')).toEqual([]);
    const session = await app.sessions.open({ id: 's' });
    expect(decisions(session.events)).toEqual(['standing', 'covered', 'withdraw_standing']);
    await expect(app.requests.withdraw(id)).rejects.toMatchObject({ code: 'invalid_answer' });
    await expect(app.requests.withdraw('none')).rejects.toMatchObject({
      code: 'request_not_found',
    });
  });

  test('does not hold for another version of the tool, nor in a fork', async () => {
    const store = memoryStore();
    const first = editing([of('a')], { store });
    await first.app.run(first.coder, { session: 's', input: 'Go' });
    await first.app.requests.approve(await pendingId(first.app), { always: 'tool' });
    await first.app.resume('s');
    const newer = editing([of('b')], { store, more: { version: '2' } });
    expect(await newer.app.run(newer.coder, { session: 's', input: 'Go' })).toMatchObject({
      status: 'yielded',
    });
    const same = editing([of('b')], { store });
    await same.app.sessions.fork('s', { id: 'other' });
    const forked = await same.app.run(same.coder, { session: 'other', input: 'Go' });
    expect(forked.status).toBe('yielded');
  });

  test('is refused where it may not hold, and the request stays pending', async () => {
    const refused = async (more: object, always: unknown, message: RegExp): Promise<void> => {
      const { app, coder } = editing([of('a')], { more });
      await app.run(coder, { session: 's', input: 'Go' });
      const id = await pendingId(app);
      const said = { always: always as 'tool', by: 'ann' };
      await expect(app.requests.approve(id, said)).rejects.toMatchObject({
        code: 'invalid_answer',
        message: expect.stringMatching(message),
      });
      expect(await pendingId(app)).toBe(id);
    };
    await refused({ destructive: true }, 'tool', /destructive/);
    await refused({ approval: { mayDecide: ['ann'] } }, 'tool', /only some people/);
    await refused({}, 'never', /'call', 'tool' or/);
    await refused({}, { below: '' }, /'call', 'tool' or/);
    await refused({}, { below: 'a', above: 'b' }, /'call', 'tool' or/);
    const { app, coder } = editing([of('a')]);
    await app.run(coder, { session: 's', input: 'Go' });
    const id = await pendingId(app);
    const other = { decision: 'reject', always: 'tool' } as const;
    await expect(app.requests.answer(id, other)).rejects.toMatchObject({ code: 'invalid_answer' });
  });
});

test('a script of runTest gives an approval that holds for later calls', async () => {
  const { coder, edited } = editing([]);
  const edit = (path: string) => answer({ toolCalls: [{ name: 'edit', args: { ...of(path) } }] });
  const { events, output } = await runTest(coder, [
    user('Go'),
    edit('a'),
    approve({ tool: 'edit', always: 'tool' }),
    edit('b'),
    answer({ text: 'both' }),
  ]);
  expect(output).toBe('both');
  expect(edited).toEqual(['a', 'b']);
  expect(decisions(events)).toEqual(['standing', 'covered']);
});
