import { randomUUID } from 'node:crypto';
import { type Plan, planText } from './plan.ts';
import type { HostProcess, ReaderProcess } from './processes.ts';
import type { ReadingResult } from './reading.ts';

/** End of a stream of ours, and of the bare server, which says it in the same words. */
const ends = 'event: invocation_end';

/** @throws when it is refused, but where there is no such route, as on a bare server */
export async function post(url: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  if (!response.ok && response.status !== 404)
    throw new Error(`${url} was answered with ${response.status}.`);
}

export interface Followed extends ReadingResult {
  /** Milliseconds from the request that starts the run until the last reader has read its end. */
  readonly ms: number;
}

/** Opens streams of a new session. @returns its id */
export async function openStreams(
  host: HostProcess,
  reader: ReaderProcess,
  count: number,
): Promise<string> {
  const session = `session-${randomUUID()}`;
  await post(`${host.url}/v1/sessions`, { id: session });
  await reader.open({
    url: `${host.url}/v1/sessions/${session}/stream`,
    count,
    isStamped: true,
    ends,
  });
  return session;
}

/** Opens streams of a new session, starts a run in it and waits until all have read it. */
export async function follow(
  host: HostProcess,
  reader: ReaderProcess,
  { count, plan }: { count: number; plan: Plan },
): Promise<Followed> {
  const session = await openStreams(host, reader, count);
  const start = performance.now();
  await post(`${host.url}/v1/runs`, { agent: 'worker', session, input: planText(plan) });
  const result = await reader.finished();
  const ms = performance.now() - start;
  await reader.close();
  return { ...result, ms };
}

/** Reads the answer to a request that streams it. */
export async function readAnswer(
  host: HostProcess,
  reader: ReaderProcess,
  plan: Plan,
): Promise<Followed> {
  const start = performance.now();
  const body = JSON.stringify({ input: planText(plan) });
  await reader.open({
    url: `${host.url}/v1/runs`,
    count: 1,
    method: 'POST',
    body,
    isStamped: true,
    ends: '"type":"finish"',
  });
  const result = await reader.finished();
  const ms = performance.now() - start;
  await reader.close();
  return { ...result, ms };
}
