import type { PlantedBug } from './planted-bug.ts';

export const ledgerBugs: readonly PlantedBug[] = [
  {
    name: 'append-taken-for-landed',
    about: 'An append without an answer counts as landed.',
    file: 'ledger/writer/persistent-store.ts',
    find: 'await resendDelay(clock, sent);\n        if',
    replace:
      'return { seq: expected.seq + batch.events.length, epoch: claim.epoch, inboxSeq: 0, now: clock.now() };\n        if',
  },
  {
    name: 'append-sent-again-as-new',
    about: 'An append without an answer is sent again with new ids of its events.',
    file: 'ledger/writer/persistent-store.ts',
    find: 'store.append(claim.session, expected, batch)',
    replace:
      'store.append(claim.session, expected, sent === 1 ? batch : ' +
      '{ ...batch, events: batch.events.map((event) => ({ ...event, id: event.id + sent })) })',
  },
  {
    name: 'batches-without-consumes',
    about: 'Items of the inbox that share a batch: only the last one leaves the inbox.',
    file: 'ledger/writer/batch.ts',
    find: 'batch.consumes = [...(batch.consumes ?? []), ...consumes];',
    replace: 'batch.consumes = consumes;',
  },
  {
    name: 'store-clock-ignores-receipts',
    about: 'The clock of the store ignores receipts, and is that of the process.',
    file: 'ledger/store-clock.ts',
    find: 'if (isLate) return;',
    replace: 'return;',
  },
  {
    name: 'lost-ledger-not-noticed',
    about: 'A writer that was fenced off takes its lease for a living one.',
    file: 'ledger/writer/ledger-lease.ts',
    find: 'ports.clock.monotonic() < this.#end',
    replace: 'this.#end > 0',
  },
];

export const storeBugs: readonly PlantedBug[] = [
  {
    name: 'epoch-not-compared',
    about: 'The store takes an append of a writer that another one has taken over from.',
    file: 'stores/memory/ledger.ts',
    find: '    if (expected.epoch !== this.#epoch) throw this.#conflict(expected);\n',
    replace: '',
  },
  {
    name: 'post-taken-twice',
    about: 'The store takes an item twice that was posted twice.',
    file: 'stores/memory/ledger.ts',
    find: 'this.#postedKeys.add(item.key);',
    replace: '',
  },
  {
    name: 'own-append-not-known',
    about: 'The store does not know an append again that it has taken.',
    file: 'stores/memory/ledger.ts',
    find: '      events.length === 0 ||\n      first < 0',
    replace: '      true || first < 0',
  },
];
