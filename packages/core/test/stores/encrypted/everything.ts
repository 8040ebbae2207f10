import { readdirSync, readFileSync } from 'node:fs';
import type { Event, JsonValue } from 'adjutant';
import type { LedgerStore, ListedRow, RequestDraft, Send } from 'adjutant/store';
import { expect } from 'vitest';
import { type EventType, eventVersions } from '../../../src/ledger/event.ts';
import { messages } from './ledger-writer.ts';

/** Of each type its present version: an event of an older one would be read as that. */
const fixtureOf = (file: string): URL =>
  new URL(
    `../../fixtures/ledgers/v${eventVersions[file.replace('.json', '') as EventType]}/${file}`,
    import.meta.url,
  );
const envelope = new Set(['v', 'seq', 'id', 'at', 'type', 'invocationId', 'by']);

/** A value with the marker in the place of each text. */
function marked(value: JsonValue | undefined, marker: string): JsonValue {
  if (typeof value === 'string') return marker;
  if (Array.isArray(value)) return value.map((part: JsonValue) => marked(part, marker));
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, marked(part, marker)]),
  );
}

/** An event of each type, with the marker in every text that is not part of the envelope. */
function eventsWith(marker: string): readonly Event[] {
  return readdirSync(new URL('../../fixtures/ledgers/v1/', import.meta.url)).map((file, i) => {
    const { stored } = JSON.parse(readFileSync(fixtureOf(file), 'utf8')) as {
      stored: Record<string, JsonValue>;
    };
    const content = Object.entries(stored).map(([name, value]) => [
      name,
      envelope.has(name) ? value : marked(value, marker),
    ]);
    return { ...Object.fromEntries(content), seq: i + 1 } as Event;
  });
}

function requestWith(marker: string): RequestDraft {
  const asked = {
    agent: marker,
    summary: marker,
    options: ['approve' as const],
    details: { deep: [marker] },
    inputSchema: { title: marker },
  };
  const names = {
    requestId: 'q',
    session: 's',
    invocationId: 'run/a',
    callId: 'run/a/r1.0',
    kind: 'approval' as const,
    name: 'refund',
  };
  return {
    ...names,
    fingerprint: 'f',
    generation: 1,
    request: asked,
    createdAt: 5,
    operationId: 'operation-1',
    user: '42',
  };
}

function rowWith(marker: string): ListedRow {
  const names = { kind: 'task', id: 'task-1', status: 'open', at: 5, user: '42' };
  return { ...names, body: { name: marker, deep: [marker] } };
}

function sendWith(marker: string): Send {
  const item = { key: 'sent', lane: 'input', by: 'runtime', at: 5, type: 'user' } as const;
  return {
    to: 'other',
    open: true,
    item: { ...item, data: { text: marker } },
    rows: [rowWith(marker)],
  };
}

export interface Markers {
  readonly event: string;
  readonly title: string;
  readonly request: string;
  readonly inbox: string;
  readonly shared: string;
  readonly blob: string;
  readonly snapshot: string;
  readonly fork: string;
  readonly row: string;
  readonly send: string;
}

export const kinds = [
  'event',
  'title',
  'request',
  'inbox',
  'shared',
  'blob',
  'snapshot',
  'fork',
  'row',
  'send',
] as const;

/** Writes content of every kind, each with its marker. */
export async function writeEverything(ledgers: LedgerStore, markers: Markers): Promise<void> {
  const { epoch } = await ledgers.claim('s', 'writer', { ttlMs: 60_000 });
  const events = eventsWith(markers.event);
  const address = await ledgers.putBlob(
    Buffer.from(`${markers.blob} ${'x'.repeat(5_000)} ${markers.blob}`),
  );
  await ledgers.post('s', {
    key: 'i',
    lane: 'input',
    by: 'user:42',
    at: 5,
    type: 'user',
    data: { text: markers.inbox },
  });
  await ledgers.append(
    's',
    { seq: 0, epoch },
    {
      events,
      blobs: [address],
      shared: [
        {
          scope: 'user',
          scopeId: '42',
          key: 'note',
          value: { text: [markers.shared] },
          baseVersion: 0,
        },
      ],
      requests: [requestWith(markers.request)],
      rows: [rowWith(markers.row)],
      sends: [sendWith(markers.send)],
      summary: { status: 'active', title: markers.title, runnable: 'support', user: '42' },
    },
  );
  await ledgers.putSnapshot('s', { key: 'fold', seq: 3, value: { text: markers.snapshot } });
  await ledgers.fork('s', 3, 'f', messages(3, [markers.fork]));
}

export async function expectEverything(ledgers: LedgerStore, markers: Markers): Promise<void> {
  const events: Event[] = [];
  for await (const page of ledgers.read('s')) events.push(...page);
  expect(events).toEqual(eventsWith(markers.event));
  expect((await ledgers.inbox('s'))[0]?.data).toEqual({ text: markers.inbox });
  expect(await ledgers.readShared('user', '42')).toEqual({
    note: { value: { text: [markers.shared] }, version: 1 },
  });
  for (const filter of [{ operationId: 'operation-1' }, { user: '42' }, { requestId: 'q' }]) {
    expect(await ledgers.requests(filter)).toEqual([
      { ...requestWith(markers.request), status: 'pending' },
    ]);
  }
  expect((await ledgers.list({ user: '42' })).map(({ id, title }) => [id, title]).sort()).toEqual([
    ['f', markers.title],
    ['s', markers.title],
  ]);
  expect(await ledgers.rows({ kind: 'task', user: '42' })).toEqual([
    { ...rowWith(markers.row), session: 's' },
  ]);
  expect(await ledgers.sends({ from: 's' })).toMatchObject([sendWith(markers.send)]);
  expect(await ledgers.getSnapshot('f', 'fold', 3)).toEqual({
    key: 'fold',
    seq: 3,
    value: { text: markers.snapshot },
  });
}

/** Markers by the names of their kinds. */
export const namedMarkers = Object.fromEntries(
  kinds.map((kind) => [kind, `marker-${kind}-0123456789`]),
) as unknown as Markers;
