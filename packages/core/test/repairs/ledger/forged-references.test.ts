import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type Agent,
  agent,
  type Event,
  memoryStore,
  runtime,
  type Session,
  type Store,
  session,
  tool,
} from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { exportLedger, ledgerFileText, parseLedgerFile, replayFile } from 'adjutant/replay';
import { sqlite } from 'adjutant/sqlite';
import { isBlobReference, type LedgerStore } from 'adjutant/store';
import { scriptedModel } from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { transcript } from 'adjutant/views';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { blobAddress } from '../../../src/ledger/blobs/blob-address.ts';

const secret = `the secret of bob ${'0123456789'.repeat(7_000)}`;
const scope = { tenant: 'default', app: 'shop' };

/** Values in the form of a reference, one of every kind. */
function lookAlikes(address: string): Readonly<Record<string, unknown>> {
  const form = { hash: 'f'.repeat(64), size: 5, preview: '"abc' };
  return {
    plain: { $blob: address, ...form },
    escaped: { $$blob: address, ...form },
    twice: [{ deep: { $$$blob: address, ...form } }],
    more: { $blob: address, ...form, other: true },
    less: { $blob: address },
    long: { $blob: address, ...form, preview: secret.slice(20) },
    around: { $blob: 5, $$blob: address, ...form, size: { $blob: address, ...form } },
  };
}

/** Another process: nothing is in memory. */
function process(store: Store, runnables: readonly Agent[] = []) {
  return runtime({ app: 'shop', store, runnables, recover: 'manual' });
}

function referenceIn(events: readonly Event[]): string {
  let found: string | undefined;
  JSON.stringify(events, (_, value: unknown) => {
    if (isBlobReference(value)) found = value.$blob;
    return value;
  });
  if (found === undefined) throw new Error('there is no reference');
  return found;
}

/** Bob has said something large; gives the address of it. */
async function bobSpeaks(store: Store): Promise<string> {
  const said = await process(store).run(
    agent({ name: 'bobs', model: scriptedModel([{ text: 'I see.' }]) }),
    { session: 'bob', input: secret },
  );
  await said.session.flush();
  return referenceIn(said.session.events);
}

/** An agent whose tool gives what it is told to, and whose model asks for it with the same. */
function giver(value: unknown): {
  readonly runnable: Agent;
  readonly prompts: () => readonly string[];
} {
  const give = tool({ name: 'give', description: 'Gives', schema: z.any(), execute: () => value });
  const model = scriptedModel((prompt) => {
    const isAsked = prompt.at(-1)?.role === 'user';
    return isAsked
      ? { toolCalls: [{ name: 'give', args: { value } as never }] }
      : { text: 'Done.' };
  });
  return {
    runnable: agent({ name: 'giver', model, tools: [give] }),
    prompts: () => model.calls.map(({ prompt }) => canonicalJson(prompt)),
  };
}

const places: readonly (readonly [string, () => Store])[] = [
  ['memory', () => memoryStore()],
  [
    'encrypted memory',
    () =>
      encrypted(memoryStore(), {
        keys: localKeys({ keys: [{ id: 'k', secret: 'a secret of a test, of 32 characters' }] }),
      }),
  ],
];

test.each(places)(
  'A4: what looks like a reference to the value of another shows nobody that value, in no ' +
    'process (%s)',
  async (_, make) => {
    const store = make();
    const address = await bobSpeaks(store);
    const { runnable, prompts } = giver(lookAlikes(address));
    await process(store).run(runnable, { session: 'ann', input: 'Go' });
    const first = prompts();
    const again = process(store);
    await again.run(runnable, { session: 'ann', input: 'Go on' });
    const opened = await again.sessions.open({ id: 'ann' });
    const seen = [
      prompts().join(),
      canonicalJson(transcript(opened.events, opened.ledger.resolve)),
      canonicalJson(opened.toJSON()),
    ].join();
    expect(seen).not.toContain(secret.slice(0, 200));
    // Both processes have said the same to the model.
    const [ofFirst, ofSecond] = [first.at(-1), prompts().at(-1)].map(
      (prompt) => (prompt ?? '').match(/"output":.*?"role"/)?.[0],
    );
    expect(ofFirst).toContain('$blob');
    expect(ofFirst).toBe(ofSecond);
  },
);

test.each(places)(
  'A4: a tool that gives what looks like a reference has given exactly that, in every view (%s)',
  async (_, make) => {
    const store = make();
    const given = lookAlikes(await bobSpeaks(store));
    const { runnable } = giver(given);
    const app = process(store, [runnable]);
    const { session: first } = await app.run(runnable, { session: 'ann', input: 'Go' });
    first.state['kept'] = given as never;
    await first.flush();
    const contentIn = ({ events, ledger }: Pick<Session, 'events' | 'ledger'>): unknown => {
      const event = events.find(({ type }) => type === 'tool_result');
      return event?.type === 'tool_result' ? ledger.resolve(event.result.content) : undefined;
    };
    const argsIn = ({ events, ledger }: Pick<Session, 'events' | 'ledger'>): unknown => {
      const event = events.find(({ type }) => type === 'tool_call');
      return event?.type === 'tool_call' ? ledger.resolve(event.args) : undefined;
    };
    const again = process(store, [runnable]);
    const opened = await again.sessions.open({ id: 'ann' });
    const fork = await again.sessions.fork('ann', { id: 'fork' });
    const copy = await session.fromSnapshot(JSON.parse(JSON.stringify(opened)));
    for (const each of [
      first,
      opened,
      fork,
      copy,
      copy.clone(),
      first.forkAt(first.events.length),
    ]) {
      expect(contentIn(each as Session)).toEqual(given);
      expect(argsIn(each as Session)).toEqual({ value: given });
      expect(each.state['kept']).toEqual(given);
    }
    // A value is not read twice.
    const content = contentIn(opened as Session);
    expect(opened.ledger.resolve(content)).toEqual(given);
    expect((await again.sessions.stateAt('ann')).sessionState).toMatchObject({ kept: given });
    const file = parseLedgerFile(ledgerFileText(await exportLedger(opened)));
    expect((await replayFile(file, again)).divergences).toEqual([]);
    expect(canonicalJson(file)).not.toContain(secret.slice(0, 200));
  },
);

test('A4: a snapshot refers to nothing but what it holds itself', async () => {
  const store = memoryStore();
  const address = await bobSpeaks(store);
  const reference = lookAlikes(address)['plain'];
  const event = {
    v: 1,
    seq: 1,
    id: 'e1',
    at: 1,
    type: 'assistant',
    by: 'model',
    agent: 'a',
    text: 'x',
    output: reference,
  };
  const app = process(store);
  await app.sessions.restore({ app: 'shop', id: 'copy', events: [event as Event] });
  const opened = await process(store).sessions.open({ id: 'copy' });
  expect(canonicalJson(opened.events.map((each) => opened.ledger.whole(each)))).not.toContain(
    secret.slice(0, 200),
  );
});

async function appendRaw(
  ledgers: LedgerStore,
  id: string,
  output: unknown,
  blobs: readonly string[] = [],
): Promise<void> {
  const { seq, epoch } = await ledgers.claim(id, 'old', { ttlMs: 1_000, force: true });
  const event = {
    v: 1,
    seq: seq + 1,
    id: `${id}${seq}`,
    at: 1,
    type: 'assistant',
    by: 'model',
    agent: 'a',
    text: 'x',
    output,
  };
  await ledgers.append(id, { seq, epoch }, { events: [event as Event], blobs });
}

test(
  'A4: what older versions have recorded refers to what their append named, and to nothing ' +
    'else',
  async () => {
    const store = memoryStore();
    const ledgers = store.for(scope);
    const address = await bobSpeaks(store);
    const reference = lookAlikes(address)['plain'];
    await appendRaw(ledgers, 'forged', reference);
    const own = new TextEncoder().encode(JSON.stringify(secret));
    const old = await ledgers.putBlob(own, blobAddress(scope, own));
    await appendRaw(ledgers, 'genuine', lookAlikes(old)['plain'], [old]);
    const app = process(store);
    const outputOf = async (id: string): Promise<unknown> => {
      const opened = await app.sessions.open({ id, observe: false });
      const [event] = opened.events;
      return event?.type === 'assistant' ? opened.ledger.resolve(event.output) : undefined;
    };
    expect(await outputOf('forged')).toEqual(reference);
    expect(await outputOf('genuine')).toBe(secret);
  },
);

test(
  'A4: nobody finds an address who knows the content; files of older versions ' + 'keep theirs',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adjutant-a4-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'store.db');
    const open = (): Store => sqlite(path, { synchronous: 'normal' });
    const bytes = new TextEncoder().encode(JSON.stringify(secret));
    const before = open();
    const old = await before.for(scope).putBlob(bytes, blobAddress(scope, bytes));
    await before.close();
    const file = new DatabaseSync(path);
    file.exec('drop table address_keys; drop index events_by_run; pragma user_version = 5');
    for (const table of ['turns', 'flows', 'picks', 'rates', 'outbox', 'listed_rows', 'tombstones'])
      file.exec(`drop table ${table}`);
    file.exec('drop index inbox_without_turn; drop index ledgers_to_wake_without_turn');
    for (const column of ['wakes', 'has_turn'])
      file.exec(`alter table inbox drop column ${column}`);
    for (const column of ['opened', 'has_turn'])
      file.exec(`alter table ledgers drop column ${column}`);
    file.close();
    const store = open();
    const address = await bobSpeaks(store);
    expect(address).not.toBe(blobAddress(scope, bytes));
    expect(Buffer.from(await store.for(scope).getBlob(old)).equals(bytes)).toBe(true);
    await store.close();
    const again = open();
    expect(await again.for(scope).putBlob(bytes)).toBe(address);
    expect(await memoryStore().for(scope).putBlob(bytes)).not.toBe(address);
    await again.close();
  },
);

test(
  'A4: what only looks like a reference once a large value in it is in its place is shown, ' +
    'run and told as it was given',
  async () => {
    const store = memoryStore();
    const address = await bobSpeaks(store);
    const form = lookAlikes(address)['long'] as Record<string, unknown>;
    const executed: unknown[] = [];
    const give = tool({
      name: 'give',
      description: 'Gives',
      schema: z.any(),
      approval: true,
      execute: ({ args }) => {
        executed.push(args);
        return { given: form };
      },
    });
    const model = scriptedModel((prompt) => {
      const isAsked = prompt.at(-1)?.role === 'user';
      return isAsked
        ? { toolCalls: [{ name: 'give', args: { value: form } as never }] }
        : { text: 'Done.' };
    });
    const runnable = agent({ name: 'giver', model, tools: [give] });

    const asking = process(store, [runnable]);
    const { pendingApprovals } = await asking.run(runnable, { session: 'bob', input: 'Give' });
    const answering = process(store, [runnable]);
    const [request] = await answering.requests.list({ status: 'pending' });
    expect(pendingApprovals[0]?.args).toEqual({ value: form });

    await answering.requests.answer(request?.requestId ?? '', { decision: 'approve', by: 'ann' });
    const { status, session: after } = await answering.resume('bob');
    expect(status).toBe('completed');
    expect(executed).toEqual([{ value: form }]);
    const result = after.events.find(({ type }) => type === 'tool_result');
    const once = after.ledger.resolve(result);
    expect(after.ledger.resolve(once)).toEqual(once);
    expect(once).toMatchObject({ result: { content: { given: form } } });
    const told = model.calls.at(-1)?.prompt.at(-1);
    expect(canonicalJson(told)).toContain(form['preview']);
    expect(canonicalJson(told)).not.toContain('secret of bob');
  },
);
