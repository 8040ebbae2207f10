import { type PlantedBug, seedsOfChecks } from './planted-bug.ts';

export const requestBugs: readonly PlantedBug[] = [
  {
    name: 'settled-beside-the-append',
    about: 'The requests of an ended invocation are settled beside its append, not in it.',
    file: 'engine/invoke/invoke.ts',
    find: '    withSettled(run.endExtras(path, end), settles),',
    replace:
      '    (settles.forEach((one) => void run.ledger.ports.store.settle(run.ledger.session, one).catch(() => undefined)), run.endExtras(path, end)),',
  },
  {
    name: 'answered-beside-the-post',
    about: 'A request is settled by a call of its own, before the answer is posted.',
    file: 'session/answer.ts',
    find: '    settles: requestId,\n',
    replace: '',
  },
  {
    name: 'second-answer-counts',
    about: 'The store takes an answer to a request that was answered before.',
    file: 'stores/requests.ts',
    find: "  if (found.status !== 'pending') throw settledBefore(found);\n",
    replace: '',
  },
  {
    name: 'expired-request-answered',
    about: 'The store takes an answer to a request that has expired.',
    file: 'stores/requests.ts',
    find: "  if (found.expiresAt !== undefined && found.expiresAt <= now)\n    throw new RequestSettledError({ requestId, status: 'expired' });\n",
    replace: '',
  },
];

/** Bugs of what people do: their cancels, their pauses and their answers. */
export const peopleBugs: readonly PlantedBug[] = [
  {
    name: 'cancel-lost',
    about: 'A confirmed cancel does nothing.',
    file: 'engine/run/inbox/item-outcome.ts',
    find: 'return cancelOutcome(target, entry);',
    replace: 'return { drafts: [] };',
    within: seedsOfChecks,
  },
  {
    name: 'cancel-recorded-only',
    about: 'A cancel is recorded, and the run goes on.',
    file: 'engine/run/inbox/item-outcome.ts',
    find: "act: () => target.cancel(new AbortReason('cancelled', draft.reason)),",
    replace: '',
    within: seedsOfChecks,
  },
  {
    name: 'pause-lost',
    about: 'A confirmed pause does nothing.',
    file: 'engine/run/inbox/item-outcome.ts',
    find: 'return pauseOutcome(target, entry);',
    replace: 'return { drafts: [] };',
    within: seedsOfChecks,
  },
  {
    name: 'pause-recorded-only',
    about: 'A pause is recorded, and the run goes on.',
    file: 'engine/run/inbox/item-outcome.ts',
    find: 'act: () => target.pause(),',
    replace: '',
    within: seedsOfChecks,
  },
  {
    name: 'interruption-lost',
    about: 'A confirmed interruption does nothing.',
    file: 'engine/run/inbox/item-outcome.ts',
    find: 'return interruptOutcome(target, entry);',
    replace: 'return { drafts: [] };',
    within: seedsOfChecks,
  },
  {
    name: 'interruption-recorded-only',
    about: 'An interruption is recorded, and the run goes on.',
    file: 'engine/run/inbox/item-outcome.ts',
    find: 'if (isPause) target.pause();',
    replace: '',
    within: seedsOfChecks,
  },
  {
    name: 'pause-ends-with-question',
    about: 'A paused run that asks a person is continued by the answer.',
    file: 'engine/run/release.ts',
    find: "if (pausedFor === 'pause') reasons.set(root, 'pause');\n  else if",
    replace: 'if',
  },
  {
    name: 'reject-is-approve',
    about: 'A rejected call is carried out as if it were approved.',
    file: 'engine/run/inbox/answer-item.ts',
    find: "const decision = textOf(data, 'decision') as RequestDecision | undefined;",
    replace:
      "const given = textOf(data, 'decision'); const decision = given === 'reject' ? 'approve' : given;",
    within: seedsOfChecks,
  },
  {
    name: 'value-of-answer-lost',
    about: 'The value that a person gives is replaced by another one.',
    file: 'engine/run/inbox/answer-item.ts',
    find: "const input = data['input'] as JsonValue | undefined;",
    replace: "const input = data['input'] === undefined ? undefined : 'no';",
    within: seedsOfChecks,
  },
];
