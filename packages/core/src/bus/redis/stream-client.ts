/** An entry of a stream of Redis. */
export interface StreamEntry {
  readonly id: string;
  readonly message: { readonly [field: string]: string };
}

/** A client of the package `redis`, as far as a bus uses it. */
export interface RedisBusClient {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  publish(channel: string, message: string): Promise<unknown>;
  duplicate(): RedisBusClient;
  destroy(): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  xAdd(
    key: string,
    id: string,
    message: Record<string, string>,
    options?: object,
  ): Promise<unknown>;
  xRead(streams: { key: string; id: string }, options?: object): Promise<unknown>;
  xRange(key: string, start: string, end: string, options?: object): Promise<unknown>;
  xRevRange(key: string, end: string, start: string, options?: object): Promise<unknown>;
}

/** The place before the first entry. */
export const beginning = '0-0';

/** Returns the id of the last entry of a stream. */
export async function lastIdOf(client: RedisBusClient, key: string): Promise<string> {
  const [last] = entriesOf(await client.xRevRange(key, '+', '-', { COUNT: 1 }));
  return last?.id ?? beginning;
}

/** True when a stream still has the entry. */
export async function hasEntry(client: RedisBusClient, key: string, id: string): Promise<boolean> {
  return entriesOf(await client.xRange(key, id, id, { COUNT: 1 })).length > 0;
}

/** Reads what comes behind an entry; waits for it as long as `blockMs`. */
export async function readBehind(
  client: RedisBusClient,
  place: { readonly key: string; readonly id: string },
  most: number,
  blockMs: number,
): Promise<readonly StreamEntry[]> {
  const reply = await client.xRead({ ...place }, { COUNT: most, BLOCK: blockMs });
  const streams = (reply ?? []) as readonly { readonly messages: unknown }[];
  return streams.flatMap(({ messages }) => entriesOf(messages));
}

/** True when one id stands behind another. */
export function isBehind(id: string, other: string): boolean {
  const [one, two] = [id, other].map((each) => each.split('-').map(BigInt)) as [bigint[], bigint[]];
  const [ms = 0n, seq = 0n] = one;
  const [otherMs = 0n, otherSeq = 0n] = two;
  return ms > otherMs || (ms === otherMs && seq > otherSeq);
}

function entriesOf(reply: unknown): readonly StreamEntry[] {
  return (reply ?? []) as readonly StreamEntry[];
}
