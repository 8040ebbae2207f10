import { eventually } from 'adjutant/testing';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { socketOfViewer } from './socket-of-viewer.ts';

/** Sends them in as few packets as there can be. */
function sendTogether(socket: WebSocket, texts: readonly string[]): void {
  const raw = (socket as unknown as { readonly _socket: { cork(): void; uncork(): void } })._socket;
  raw.cork();
  for (const text of texts) socket.send(text);
  raw.uncork();
}

test(
  'A1: a socket that keeps sending what is no command is closed, and what waits of it is not ' +
    'looked at',
  async () => {
    const { socket, told, closed } = await socketOfViewer();
    sendTogether(
      socket,
      Array.from({ length: 9_000 }, () => '{'),
    );
    expect(await closed).toBe(1_008);
    const problems = told.filter(({ type }) => type === 'problem');
    expect(problems).toHaveLength(100);
    expect(new Set(problems.map(({ problem }) => problem?.code))).toEqual(
      new Set(['malformed_json']),
    );
  },
);

test(
  'A1: others have their turns while a thousand commands of one socket are ' + 'carried out',
  async () => {
    const { socket, told } = await socketOfViewer();
    let turns = 0;
    let isCounting = true;
    const count = (): void => {
      turns++;
      if (isCounting) setImmediate(count);
    };
    const answered = () => told.filter(({ type }) => type === 'problem').length;
    sendTogether(
      socket,
      Array.from({ length: 1_000 }, () => '{"type":"pause"}'),
    );
    await eventually(() => answered() > 0, { what: 'the first answer' });
    setImmediate(count);
    await eventually(() => answered() === 1_000, { what: 'all answers' });
    isCounting = false;
    expect(turns).toBeGreaterThan(10);
  },
);

test('A1: a message with very many names gets a short answer', async () => {
  const { socket, told } = await socketOfViewer();
  const names = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, i]));
  socket.send(JSON.stringify({ type: 'pause', ...names(50_000) }));
  socket.send(JSON.stringify({ type: 'pause', ...names(9_000) }));
  await eventually(() => told.filter(({ type }) => type === 'problem').length === 2, {
    what: 'two problems',
  });
  for (const { problem } of told.filter(({ type }) => type === 'problem')) {
    expect(problem?.code).toBe('invalid_request');
    expect(problem?.detail.length).toBeLessThan(1_000);
  }
});
