import { agent, type Runtime, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { ApiKeys } from '../../../src/access/api-keys.ts';
import { serve } from '../../../src/serve.ts';
import type { ServeOptions } from '../../../src/serve-options.ts';

export interface ToldMessage {
  readonly type: string;
  readonly id?: string | number;
  readonly problem?: { readonly code: string; readonly status: number; readonly detail: string };
}

export interface ViewerSocket {
  readonly app: Runtime;
  readonly socket: WebSocket;
  readonly told: ToldMessage[];
  /** The code with which the socket is closed. */
  readonly closed: Promise<number>;
}

/** A server, and a socket of somebody who may only read. */
export async function socketOfViewer(options: ServeOptions = {}): Promise<ViewerSocket> {
  const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Done.' })) });
  const app = runtime({ app: 'shop', runnables: [clerk], recover: 'manual' });
  const listening = await serve(app, { port: 0, shutdown: { graceMs: 100 }, auth: {}, ...options });
  onTestFinished(() => listening.close({ closeApp: true }));
  await app.sessions.create({ id: 's' });
  const { credential } = await new ApiKeys(app).create({ name: 'viewer', roles: ['viewer'] });
  const socket = new WebSocket(`${listening.url.replace('http', 'ws')}/v1/sessions/s/socket`, {
    headers: { authorization: `Bearer ${credential}` },
  });
  const told: ToldMessage[] = [];
  socket.on('message', (data) => void told.push(JSON.parse(String(data)) as ToldMessage));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return { app, socket, told, closed };
}
