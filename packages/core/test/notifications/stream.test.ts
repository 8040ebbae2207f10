import {
  type NoticeHub,
  type NoticeHubOptions,
  noticeHub,
  streamChannel,
} from 'adjutant/notifications';
import { expect, test } from 'vitest';
import { approval, failureOf, sending } from './notices.ts';

const { tenant, user } = approval;
const under = (idempotencyKey: string) => ({ ...sending(), idempotencyKey });

test('all open streams of a person get a notice, those of others do not', async () => {
  const hub = noticeHub();
  const channel = streamChannel(hub);
  const [first, second] = [hub.subscribe(tenant, user), hub.subscribe(tenant, user)];
  const others = [hub.subscribe(tenant, 'bob'), hub.subscribe('other', user)];
  expect(channel).toMatchObject({ name: 'stream', idempotent: true });
  expect(await channel.send(approval, sending())).toEqual({ channel: 'stream' });
  const value = { id: 'key-1', notice: approval };
  expect(await first.next()).toEqual({ done: false, value });
  expect(await second.next()).toEqual({ done: false, value });
  hub.close();
  for (const other of others) expect(await other.next()).toEqual({ done: true });
});

test('a stream that is being read gets notices in order as they come', async () => {
  const hub = noticeHub();
  const channel = streamChannel(hub);
  const stream = hub.subscribe(tenant, user);
  const reading = (async () => {
    const ids: string[] = [];
    for await (const { id } of stream) ids.push(id);
    return ids;
  })();
  for (const key of ['a', 'b', 'c']) await channel.send(approval, under(key));
  stream.close();
  expect(await reading).toEqual(['a', 'b', 'c']);
});

test('a notice that is sent again comes once', async () => {
  const hub = noticeHub();
  const channel = streamChannel(hub);
  const stream = hub.subscribe(tenant, user);
  for (const key of ['a', 'a', 'b', 'a']) await channel.send(approval, under(key));
  stream.close();
  const ids = [];
  for await (const { id } of stream) ids.push(id);
  expect(ids).toEqual(['a', 'b']);
});

test('a stream that nobody reads loses the oldest, and says how many', async () => {
  const hub = noticeHub({ bufferSize: 3 });
  const channel = streamChannel(hub);
  const stream = hub.subscribe(tenant, user);
  for (let count = 0; count < 10; count++) await channel.send(approval, under(`${count}`));
  stream.close();
  const read = [];
  for await (const { id, missed } of stream) read.push([id, missed]);
  expect(read).toEqual([
    ['7', 7],
    ['8', undefined],
    ['9', undefined],
  ]);
});

test('without an open stream the notice is refused, so that another channel takes it', async () => {
  const hub = noticeHub();
  const channel = streamChannel(hub, { name: 'pages' });
  const controller = new AbortController();
  const left = hub.subscribe(tenant, user);
  hub.subscribe(tenant, user, { signal: controller.signal });
  hub.subscribe(tenant, user, { signal: AbortSignal.abort() });
  hub.publish('a', approval);
  for await (const _ of left) break;
  controller.abort();
  const error = await failureOf(channel.send(approval, sending()));
  expect(error).toMatchObject({
    ...{ channel: 'pages', permanent: true, effect: 'none', errorType: 'no_recipient' },
  });
});

test('a closed hub ends new streams at once', async () => {
  const hub = noticeHub();
  hub.close();
  expect(await hub.subscribe(tenant, user).next()).toEqual({ done: true });
  expect(hub.publish('a', approval)).toBe(0);
});

test('names like those of objects are names', () => {
  const hub = noticeHub();
  hub.subscribe('__proto__', 'constructor');
  expect(hub.publish('a', { ...approval, tenant: '__proto__', user: 'constructor' })).toBe(1);
  expect(hub.publish('a', { ...approval, tenant: '__proto__', user: 'toString' })).toBe(0);
  // Parts of names do not run together.
  hub.subscribe('a","b', 'c');
  expect(hub.publish('a', { ...approval, tenant: 'a', user: 'b","c' })).toBe(0);
});

test.each([
  [() => noticeHub({ bufferSize: 0 }), '`bufferSize` must be'],
  [() => noticeHub({ size: 3 } as NoticeHubOptions), 'there is no option `size`'],
  [() => streamChannel({} as NoticeHub), 'must be a hub'],
  [() => streamChannel(noticeHub(), { name: '' }), '`name` must be'],
  [() => noticeHub().subscribe('', 'ada'), '`tenant` must be'],
  [() => noticeHub().subscribe('acme', undefined as unknown as string), '`user` must be'],
])('%s is refused', (make, said) => {
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  expect(make).toThrow(said);
});
