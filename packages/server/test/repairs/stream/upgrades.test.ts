import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { runtime } from 'adjutant';
import { eventually } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { type ListeningServer, serve } from '../../../src/index.ts';

async function served(): Promise<ListeningServer> {
  const listening = await serve(runtime({ app: 'shop', recover: 'manual' }), {
    port: 0,
    auth: {},
    processGuard: false,
    shutdown: { graceMs: 100 },
  });
  onTestFinished(() => listening.close({ closeApp: true }));
  return listening;
}

/** A connection that has asked for another protocol, and what it was answered. */
async function asking(
  { port }: ListeningServer,
  upgrade: string,
): Promise<{ readonly socket: Socket; readonly told: () => string }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('error', () => undefined).on('data', (chunk) => (text += String(chunk)));
  await once(socket, 'connect');
  socket.write(
    `GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ` +
      `${upgrade}\r\n\r\n`,
  );
  return { socket, told: () => text };
}

test.for(['h2c', 'TLS/1.0', 'web socket'])(
  'A1: a request for the protocol "%s" is answered in HTTP',
  async (upgrade) => {
    const listening = await served();
    const { told } = await asking(listening, upgrade);
    await eventually(() => told().includes('"status":"ok"'), { what: 'the answer' });
    expect(told()).toMatch(/^HTTP\/1\.1 200 /);
  },
);

test.for(['h2c', 'websocket'])(
  'A1: a connection that asks for "%s" and breaks ends nothing',
  async (upgrade) => {
    const listening = await served();
    const uncaught: unknown[] = [];
    const heed = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', heed);
    onTestFinished(() => void process.off('uncaughtException', heed));
    for (let i = 0; i < 20; i++) {
      const { socket } = await asking(listening, upgrade);
      const closed = once(socket, 'close');
      socket.resetAndDestroy();
      await closed;
      expect((await fetch(`${listening.url}/v1/health`)).status).toBe(200);
    }
    expect(uncaught).toEqual([]);
  },
);
