import type { UiPart } from './part.ts';

/** A part with what is known of its place. */
export type PlacedPart = UiPart & {
  /** `seq` of the first event that is about it; missing while it is only streamed. */
  readonly order?: number;
  /** `seq` of the start of the round that streams it. */
  readonly since?: number;
  /** The invocation that it belongs to. */
  readonly from: string;
  /** Recorded part of a text. */
  readonly sure?: string;
};

export interface PlacedStep {
  readonly parts: readonly PlacedPart[];
  readonly isDone: boolean;
}

/** A round that is under way. */
export interface OpenRound {
  /** `seq` of its start. */
  readonly since: number;
  readonly round: number;
  /** True while the model is still writing. */
  readonly isAnswering: boolean;
  /** Calls without a result. */
  readonly calls: readonly string[];
  /** Names that the provider gave the calls that are being written, in their order. */
  readonly streamedCalls: readonly string[];
}

/** Durable parts as they are in the ledger, then what is being written, by who began first. */
export function ordered(parts: readonly PlacedPart[]): readonly PlacedPart[] {
  const isOrdered = parts.every(
    (part, index) => index === 0 || compared(parts[index - 1] as PlacedPart, part) <= 0,
  );
  return isOrdered ? parts : [...parts].sort(compared);
}

function compared(a: PlacedPart, b: PlacedPart): number {
  if (a.order !== undefined && b.order !== undefined) return a.order - b.order;
  if (a.order === undefined && b.order === undefined) return (a.since ?? 0) - (b.since ?? 0);
  return a.order === undefined ? 1 : -1;
}

/** The type of data; of two types, data may have one id. */
function typeOf(part: PlacedPart): string | undefined {
  return part.kind === 'data' ? part.type : undefined;
}

/** The part in the place of the one of its id, or behind all. */
export function withPart(parts: readonly PlacedPart[], part: PlacedPart): readonly PlacedPart[] {
  const isThis = (known: PlacedPart): boolean =>
    known.kind === part.kind && known.id === part.id && typeOf(known) === typeOf(part);
  return parts.some(isThis)
    ? parts.map((known) => (isThis(known) ? part : known))
    : [...parts, part];
}

/** Without what an invocation has only streamed. @param from `undefined`: of all */
export function dropUnsure(
  parts: readonly PlacedPart[],
  from: string | undefined,
): readonly PlacedPart[] {
  const isUnsure = (part: PlacedPart): boolean =>
    part.order === undefined && (from === undefined || part.from === from);
  return parts.some(isUnsure) ? parts.filter((part) => !isUnsure(part)) : parts;
}
