import { eventually } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { socketOfViewer } from './socket-of-viewer.ts';

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** Frames that a client can make, and that no request could be made of. */
const frames: readonly (readonly [string, string])[] = [
  ['a key that no header can have', '{"type":"cancel","id":7,"key":"\u2603"}'],
  ['a key with a line feed', '{"type":"cancel","id":7,"key":"a\\nb"}'],
  ['a key with half a character', '{"type":"cancel","id":7,"key":"\\udfff"}'],
  [
    'a request with half a character',
    '{"type":"answer","id":7,"request":"\\ud800","decision":"approve"}',
  ],
  [
    'an input 5,000 levels deep',
    `{"type":"answer","id":7,"request":"r","decision":"approve","input":${deep(5_000)}}`,
  ],
  [
    'an input 200,000 levels deep',
    `{"type":"answer","id":7,"request":"r","decision":"approve","input":${deep(200_000)}}`,
  ],
  ['data 5,000 levels deep', `{"type":"start","id":7,"agent":"clerk","data":${deep(5_000)}}`],
];

test.for(frames)(
  'A1: %s is answered by a problem, and the socket stays open',
  async ([, frame]) => {
    const { socket, told } = await socketOfViewer();
    socket.send(frame);
    await eventually(() => told.some(({ id }) => id === 7), { what: 'an answer' });
    expect(told.find(({ id }) => id === 7)).toMatchObject({
      type: 'problem',
      problem: { code: 'invalid_request', status: 400 },
    });
    socket.send('{"type":"cancel","id":8}');
    await eventually(() => told.some(({ id }) => id === 8), {
      what: 'the answer to the next command',
    });
    expect(told.find(({ id }) => id === 8)).toMatchObject({ problem: { code: 'forbidden' } });
    expect(socket.readyState).toBe(WebSocket.OPEN);
  },
);

test('A1: as many broken commands as may wait do not stop a socket from being read', async () => {
  const { socket, told } = await socketOfViewer();
  for (let i = 0; i < 40; i++) socket.send('{"type":"cancel","key":"\u2603"}');
  socket.send('{"type":"cancel","id":"last"}');
  await eventually(() => told.some(({ id }) => id === 'last'), {
    what: 'the answer to the last command',
  });
  expect(told.filter(({ problem }) => problem?.code === 'invalid_request')).toHaveLength(40);
});

test('A1: a command that fails inside is a problem, also when `onError` throws', async () => {
  const failing = {
    onError: () => {
      throw new Error('The log is full.');
    },
    ports: {
      ids: {
        next: () => {
          if (isBroken) throw new Error('There are no ids.');
          return `id-${count++}`;
        },
      },
    },
  };
  let [isBroken, count] = [false, 0];
  const { socket, told } = await socketOfViewer(failing);
  isBroken = true;
  socket.send('{"type":"cancel","id":1}');
  socket.send('{"type":"cancel","id":2}');
  await eventually(() => told.filter(({ type }) => type === 'problem').length === 2, {
    what: 'two problems',
  });
  isBroken = false;
  socket.send('{"type":"cancel","id":3}');
  await eventually(() => told.some(({ id }) => id === 3), { what: 'an answer' });
  expect(
    told.filter(({ type }) => type === 'problem').map(({ id, problem }) => [id, problem?.code]),
  ).toEqual([
    [1, 'internal_error'],
    [2, 'internal_error'],
    [3, 'forbidden'],
  ]);
});
