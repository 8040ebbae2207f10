import type { Event } from '../ledger/event.ts';

/**
 * Returns the text that was awaited for a model call at a place of its prompt; `undefined` when
 * none is recorded.
 */
export function awaitedTextOf(
  start: Event | undefined,
  place: number,
  record: {
    readonly events: readonly Event[];
    readonly resolve: (value: unknown) => unknown;
  },
): string | undefined {
  if (start?.type !== 'model_start') return undefined;
  const text = start.recipe.awaited?.find((awaited) => awaited.place === place);
  if (text === undefined) return undefined;
  const content = record.events
    .flatMap((event) => (event.type === 'model_start' ? [event.recipe.contents?.[text.hash]] : []))
    .find((found) => found !== undefined);
  return (record.resolve(content) as { readonly text?: string } | undefined)?.text;
}
