import type { Event, EventDraft } from 'adjutant';
import { eventVersions } from '../../src/ledger/event.ts';

/**
 * Next act of a generated ledger. Numbers choose among what is possible at that moment; what is
 * not possible is left out.
 */
export interface Move {
  readonly kind:
    | 'start'
    | 'branches'
    | 'end'
    | 'reopen'
    | 'yield'
    | 'resume'
    | 'round'
    | 'call'
    | 'attempt'
    | 'result'
    | 'ask'
    | 'answer'
    | 'state'
    | 'message'
    | 'spawn'
    | 'detach'
    | 'remember'
    | 'compact';
  readonly pick: number;
  readonly value: number;
}

export interface OpenInvocation {
  readonly path: string;
  readonly kind: 'agent' | 'step' | 'sequence' | 'parallel';
  readonly mode: 'root' | 'child' | 'spawn';
  status: 'open' | 'yielded' | 'completed' | 'error';
  round: number;
  calls: number;
  children: number;
}

export interface OpenCall {
  readonly callId: string;
  readonly agent: OpenInvocation;
  attempts: number;
  running: boolean;
  settled: boolean;
  generation: number;
  requestId: string | undefined;
}

/** A ledger that moves are carried out on, one after the other. */
export class LedgerMaker {
  readonly events: Event[] = [];
  readonly invocations: OpenInvocation[] = [];
  readonly calls: OpenCall[] = [];

  add(draft: EventDraft): void {
    const seq = this.events.length + 1;
    this.events.push(
      Object.freeze({
        v: eventVersions[draft.type],
        seq,
        id: `e${seq}`,
        at: 1_000 + seq * 10,
        ...draft,
      }) as Event,
    );
  }

  open(
    kinds: readonly OpenInvocation['kind'][] = ['agent', 'step', 'sequence', 'parallel'],
  ): readonly OpenInvocation[] {
    return this.invocations.filter((one) => one.status === 'open' && kinds.includes(one.kind));
  }

  begin(
    parent: OpenInvocation | undefined,
    pick: number,
    branch: boolean,
    spawnedBy?: OpenCall,
  ): void {
    const kind = (['agent', 'step', 'sequence', 'parallel'] as const)[
      pick % 4
    ] as OpenInvocation['kind'];
    const name = `${kind}${parent === undefined ? this.invocations.length : parent.children++}`;
    const path =
      spawnedBy !== undefined
        ? `${spawnedBy.callId}/${name}`
        : parent === undefined
          ? `run${name}`
          : `${parent.path}/${name}`;
    const mode = spawnedBy !== undefined ? 'spawn' : parent === undefined ? 'root' : 'child';
    this.invocations.push({ path, kind, mode, status: 'open', round: 0, calls: 0, children: 0 });
    this.add({
      type: 'invocation_start',
      by: 'runtime',
      invocationId: path,
      kind,
      name,
      mode,
      ...(branch ? { branch: true } : {}),
    });
  }
}

/** Moves by their kinds, each keeping to what a ledger of the engine can look like. */
export type Moves<Kind extends Move['kind']> = Readonly<
  Record<Kind, (maker: LedgerMaker, move: Move) => void>
>;

export function choose<T>(candidates: readonly T[], pick: number): T | undefined {
  return candidates[pick % Math.max(1, candidates.length)];
}
