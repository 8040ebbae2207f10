import type { Event } from 'adjutant';
import fc from 'fast-check';
import { callMoves } from './arbitrary-ledger/call-moves.ts';
import { contentMoves } from './arbitrary-ledger/content-moves.ts';
import { invocationMoves } from './arbitrary-ledger/invocation-moves.ts';
import { LedgerMaker, type Move, type Moves } from './arbitrary-ledger/maker.ts';

const moves: Moves<Move['kind']> = { ...invocationMoves, ...callMoves, ...contentMoves };

const kinds: readonly Move['kind'][] = [
  'start',
  'branches',
  'end',
  'reopen',
  'yield',
  'resume',
  'round',
  'call',
  'call',
  'attempt',
  'attempt',
  'result',
  'result',
  'ask',
  'answer',
  'state',
  'state',
  'state',
  'message',
  'spawn',
  'detach',
  'remember',
  'compact',
];

const move = fc.record({
  kind: fc.constantFrom(...kinds),
  pick: fc.nat(1_000),
  value: fc.nat(1_000),
});

/**
 * Ledgers as the engine could have written them: invocations inside each other, branches, calls
 * with attempts, questions, state.
 */
export function arbitraryLedger({
  maxMoves = 60,
}: {
  readonly maxMoves?: number;
} = {}): fc.Arbitrary<readonly Event[]> {
  return fc.array(move, { maxLength: maxMoves, size: 'max' }).map((drawn) => {
    const maker = new LedgerMaker();
    // Most moves need somebody who is at work.
    moves.start(maker, { kind: 'start', pick: 0, value: 0 });
    moves.start(maker, { kind: 'start', pick: 3, value: 0 });
    for (const one of drawn) moves[one.kind](maker, one);
    return maker.events;
  });
}
