import { contractExpect as expect } from '../store/contract-expect.ts';
import type { Answer, Part } from './harness.ts';

const blocks: Readonly<
  Record<string, { readonly kind: string; readonly place: 'start' | 'delta' | 'end' }>
> = Object.fromEntries(
  ['text', 'reasoning', 'tool-input'].flatMap((kind) =>
    (['start', 'delta', 'end'] as const).map((place) => [`${kind}-${place}`, { kind, place }]),
  ),
);

/**
 * Checks the order of any stream: each block begins once, has its deltas in between, and ends; one
 * finish, and nothing after it.
 * @param isWhole true when the stream has come to its end
 */
export function checkStream({ parts }: Answer, isWhole = true): void {
  const open = new Set<string>();
  const ended = new Set<string>();
  for (const part of parts) checkBlock(part, open, ended);
  const finishes = parts.flatMap((part, index) => (part.type === 'finish' ? [index] : []));
  if (!isWhole) return;
  expect([...open], 'blocks that have no end').toEqual([]);
  expect(finishes.length, 'how often the stream finishes').toBe(1);
  expect(finishes[0], 'the place of the finish, which is the last').toBe(parts.length - 1);
  const ids = parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
  expect(new Set(ids).size, 'different ids of tool calls').toBe(ids.length);
  expect(
    ids.every((id) => typeof id === 'string' && id !== ''),
    'tool calls have ids',
  ).toBe(true);
}

function checkBlock(part: Part, open: Set<string>, ended: Set<string>): void {
  const block = blocks[part.type];
  if (block === undefined) return;
  const { id } = part as { readonly id: string };
  const name = `${block.kind} "${id}"`;
  if (block.place === 'start') {
    expect(open.has(name) || ended.has(name), `${name} begins twice`).toBe(false);
    open.add(name);
    return;
  }
  expect(open.has(name), `${name} is open at its ${block.place}`).toBe(true);
  if (block.place === 'delta')
    expect(typeof (part as { readonly delta: unknown }).delta, 'a delta').toBe('string');
  else {
    open.delete(name);
    ended.add(name);
  }
}
