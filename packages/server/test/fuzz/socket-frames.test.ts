import { eventually } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { seed } from '../../../core/test/fuzz/seed.ts';
import { watchProcess } from '../../../core/test/fuzz/unhandled.ts';
import { serve } from '../../src/index.ts';
import { inhabited } from '../access/inhabited.ts';
import { hostileTexts } from './schema-arbitrary.ts';

type Message = {
  readonly type: string;
  readonly id?: unknown;
  readonly problem?: { readonly code: string; readonly status: number };
};

const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostileTexts) },
  fc.string({ unit: 'binary', maxLength: 30 }),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, -1, 1e308, [], {}, deep(150), deep(3_000)),
);
const known: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  type: fc.constantFrom('message', 'answer', 'cancel', 'pause', 'interrupt', 'continue', 'start'),
  key: fc.constantFrom('one', 'two', 'a b', '"quoted"', '"half'),
  request: fc.constantFrom('REQUEST', '.', '..', '../../keys', '%2e%2e'),
  decision: fc.constantFrom('approve', 'reject', 'fly'),
  agent: fc.constantFrom('clerk', 'payer', 'director', 'nobody'),
  text: fc.constantFrom('Hello', ''),
  input: value,
  data: value,
  reason: text,
  interrupt: fc.boolean(),
};

/**
 * Members that fit for the most part. `type` comes first, so that what fails shrinks to a small
 * command.
 */
const command = fc
  .record(
    Object.fromEntries(
      Object.entries(known).map(([name, fitting]) => [
        name,
        fc.oneof({ weight: 4, arbitrary: fitting }, value),
      ]),
    ),
    {
      requiredKeys: ['type'],
    },
  )
  .chain((members) =>
    fc
      .subarray(Object.keys(members))
      .map((kept) => Object.fromEntries(kept.map((name) => [name, members[name]]))),
  );

const frames = fc.oneof(
  { weight: 8, arbitrary: command.map((members) => JSON.stringify(members)) },
  fc.json(),
  text,
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(
    '[',
    '{"type":"cancel","key":"\u2603"}',
    '{"type":"answer","request":"\\ud800"}',
    '['.repeat(100_000),
  ),
);

test(
  'every frame of a socket is answered, in order, by an ack or a problem below 500, and the ' +
    'socket stays open',
  async () => {
    const checkProcess = watchProcess();
    const errors: unknown[] = [];
    const { app, key, request } = await inhabited();
    const auth = {
      auth: {},
      limits: { requestsPerMinute: false },
      onError: (error: unknown) => void errors.push(error),
    } as const;
    const listening = await serve(app, {
      port: 0,
      shutdown: { graceMs: 100 },
      processGuard: false,
      ...auth,
    });
    onTestFinished(() => listening.close());
    const connect = async (
      role: 'operator' | 'viewer',
      session: string,
    ): Promise<{ readonly socket: WebSocket; readonly told: Message[] }> => {
      const credential = await key({ roles: [role] });
      const address = `${listening.url.replace('http', 'ws')}/v1/sessions/${session}/socket`;
      const socket = new WebSocket(address, { headers: { authorization: `Bearer ${credential}` } });
      const told: Message[] = [];
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Message;
        if (message.type === 'ack' || message.type === 'problem') told.push(message);
      });
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      return { socket, told };
    };
    const sockets = [
      await connect('operator', 'left-waiting'),
      await connect('viewer', 'left-done'),
    ] as const;
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 1),
        fc.array(frames, { minLength: 1, maxLength: 20 }),
        async (which, sent) => {
          const { socket, told } = sockets[which] as (typeof sockets)[0];
          told.length = 0;
          for (const frame of sent)
            socket.send(
              typeof frame === 'string'
                ? frame.toWellFormed().replaceAll('REQUEST', request)
                : frame,
            );
          const id = `end-${++asked}`;
          // A command, so that what is none does not add up until the socket is closed.
          socket.send(
            JSON.stringify({ type: 'answer', id, request: 'nobody', decision: 'approve' }),
          );
          await eventually(() => told.some((message) => message.id === id), {
            what: 'the answer to the last frame',
          });
          expect(told).toHaveLength(sent.length + 1);
          for (const { type, problem } of told) {
            if (type === 'problem')
              expect(problem).toMatchObject({
                code: expect.stringMatching(/^[a-z_]+$/),
                status: expect.any(Number),
              });
            if ((problem?.status ?? 0) >= 500)
              throw new Error(`${JSON.stringify(problem)}\n${errors.map(String).join('\n')}`);
          }
          expect(socket.readyState).toBe(WebSocket.OPEN);
        },
      ),
      { seed, numRuns: 100 },
    );
    const others = await connect('viewer', 'left-filming');
    others.socket.send('{"type":"cancel","id":"other"}');
    await eventually(() => others.told.some(({ id }) => id === 'other'), {
      what: 'an answer about another session',
    });
    for (const { socket } of [...sockets, others]) socket.terminate();
    await checkProcess();
  },
);
