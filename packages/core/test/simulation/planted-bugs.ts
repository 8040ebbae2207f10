/**
 * A slip of a developer that the simulator must find. The text is replaced when the file is loaded;
 * nothing on disk changes.
 */
export interface PlantedBug {
  readonly name: string;
  /** The slip, in one sentence. */
  readonly about: string;
  /** Path below `packages/core/src`. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Most seeds until it must be found. @default 200 */
  readonly within?: number;
}

const usualSeeds = 200;
/** Seeds for the bugs that Adjutant once had: points 18 to 21 of its repairs. */
const seedsOfRepairs = 100;
/** Seeds for the bugs that the checks of a run's end and of people's words are for. */
const seedsOfChecks = 100;

/** Most seeds until a bug must be found. */
export function mostSeeds({ within = usualSeeds }: PlantedBug): number {
  return within;
}

const ledgerBugs: readonly PlantedBug[] = [
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
    file: 'ledger/ledger-writer.ts',
    find: 'this.#options.clock.monotonic() < this.#leaseEnd',
    replace: 'this.#leaseEnd > 0',
  },
];

const engineBugs: readonly PlantedBug[] = [
  {
    name: 'lease-not-renewed',
    about: 'The lease is not renewed: it lasts as long as appends prolong it.',
    file: 'engine/run/lease.ts',
    find: '  arm(leaseMs / renewalsPerLease);\n  return',
    replace: '  return',
  },
  {
    name: 'item-not-consumed',
    about: 'An item of the inbox becomes events and stays in the inbox.',
    file: 'engine/run/inbox/reader.ts',
    find: 'consumes: [entry.position],',
    replace: '',
  },
  {
    name: 'item-consumed-first',
    about: 'An item leaves the inbox in an append of its own, before its events land.',
    file: 'engine/run/inbox/reader.ts',
    find: '      ledger.append(drafts, {\n        consumes: [entry.position],',
    replace:
      '      ledger.append([], { consumes: [entry.position] });\n      await new Promise((resolve) => ledger.ports.host.setBackgroundTimer(5, resolve));\n      ledger.append(drafts, {',
  },
  {
    name: 'drained-while-released',
    about: 'Items are taken in while the session is released, and nobody acts on them.',
    file: 'engine/run/inbox/reader.ts',
    find: 'drafts.length > 0 && !isNote && target.isOpen()',
    replace: 'false',
  },
  {
    name: 'outcome-ignored',
    about: 'The recorded outcome of a child is ignored, and the child runs again.',
    file: 'engine/invoke/invoke.ts',
    find: '    if (record?.end !== undefined) {\n',
    replace:
      '    const ran = (run.ran ??= new Set());\n    if (record?.end === undefined) ran.add(path);\n    if (record?.end !== undefined && (mode !== "call" || ran.has(path) || !ran.add(path))) {\n',
  },
  {
    name: 'detached-not-continued',
    about: 'Spawned and dispatched children are not continued after a stop.',
    file: 'engine/run/detached-children.ts',
    find: 'of openDetachedIn(run.ledger, run.lane)) {',
    replace: 'of []) {',
  },
  {
    name: 'wake-time-cleared',
    about: 'A run that waits clears the time at which its first request expires.',
    file: 'engine/run/release.ts',
    find: ': earliest(wakeAfter(ledger, app.telling, lane), drafts.length > 0 ? expiresAt : undefined);',
    replace: ': null;',
  },
  {
    name: 'join-by-arrival',
    about: 'A parallel joins the writes of its branches in the order in which they end.',
    file: 'engine/invoke/bodies/parallel.ts',
    find: '? lastWins(outcomes)',
    replace:
      '? lastWins(outcomes.toSorted((a, b) => ended[outcomes.indexOf(a)].end.seq - ended[outcomes.indexOf(b)].end.seq))',
  },
];

const effectBugs: readonly PlantedBug[] = [
  {
    name: 'attempt-not-durable',
    about: 'A tool runs before its attempt is durable.',
    file: 'effects/tool-call/attempt/run-attempt.ts',
    find: "recovery === 'rerun' ? undefined : ledger.durable()",
    replace: 'undefined',
  },
  {
    name: 'effect-not-durable',
    about: 'An effect of a body runs before its attempt is durable.',
    file: 'effects/body-effect/perform-effect.ts',
    find: "if (this.#request.options.recovery !== 'rerun') await ledger.durable();",
    replace: '',
  },
  {
    name: 'lease-not-checked',
    about: 'A tool runs without a last look at the lease.',
    file: 'effects/tool-call/attempt/run-attempt.ts',
    find: 'if (!ledger.leaseIsLive() && !(await renewLease(ledger))) return;',
    replace: '',
  },
  {
    name: 'key-of-each-attempt',
    about: 'Each attempt has an idempotency key of its own.',
    file: 'effects/idempotency-key.ts',
    find: 'if (open !== undefined) return open.key;',
    replace: '',
  },
  {
    name: 'reported-tool-runs-again',
    about: "An interrupted tool with the recovery 'report' is run again.",
    file: 'effects/tool-call/interrupted-attempt.ts',
    find: "if (tool?.recovery !== 'rerun')",
    replace: 'if (tool === undefined)',
  },
  {
    name: 'reported-effect-runs-again',
    about: "An interrupted effect with the recovery 'report' is run again.",
    file: 'effects/body-effect/perform-effect.ts',
    find: "if (recovery === 'report') this.#note(open, unknownEnding(effectInterrupted()), 0);",
    replace: "if (recovery === 'report') this.#note(open, this.#interrupted('unknown'), 0);",
  },
];

const requestBugs: readonly PlantedBug[] = [
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

const storeBugs: readonly PlantedBug[] = [
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

/** Bugs that Adjutant had: points 18 to 21 of its repairs, put back. */
const repairedBugs: readonly PlantedBug[] = [
  {
    name: 'b18-writes-by-value',
    about: 'An update made again is told from another one by the value that the body computed.',
    file: 'engine/invoke/state/key-writes.ts',
    find: 'entry.source === source && givesSame(apply, written)',
    replace: 'sameValue(written.newValue, value)',
    within: seedsOfRepairs,
  },
  {
    name: 'b19-approval-used-up',
    about: 'An approval is used up when its tool is gone, or no longer takes its arguments.',
    file: 'effects/request/unused-answer.ts',
    find: '!withoutTool.has(answer.decision) &&',
    replace: 'false &&',
    within: seedsOfRepairs,
  },
  {
    name: 'b20-other-input-pays-first',
    about: 'An edited step begins a child in the place of an open one, and fails afterwards.',
    file: 'engine/invoke/context/drift-gate.ts',
    find: 'if (this.#waiting.size === 0 && !this.#isEarly(asked))',
    replace: 'if (this.#waiting.size === 0)',
    within: seedsOfRepairs,
  },
  {
    name: 'b20-question-left',
    about: 'The question of an abandoned child stays answerable.',
    file: 'engine/invoke/invoke.ts',
    find: 'withdrawnWith(run.ledger, path, isCancelled)',
    replace: '{ drafts: [], settles: [] }',
    within: seedsOfRepairs,
  },
  {
    name: 'b21-expiry-by-own-clock',
    about: 'Expiry is judged by the clock of the process, not by that of the store.',
    file: 'engine/run/waiting/expiry.ts',
    find: '    const now = this.#clock.now();\n',
    replace: '    const now = this.#ledger.ports.host.clock.now();\n',
    within: seedsOfRepairs,
  },
];

/** Bugs by which runs fail, or effects stay unknown, without a cause. */
const failureBugs: readonly PlantedBug[] = [
  {
    name: 'resumed-agent-fails',
    about: 'Each agent that is resumed after a stop ends in an error.',
    file: 'engine/invoke/invoke.ts',
    find: 'const end = await run.runBody(slot.runnable as AnyRunnable | Wait, frame);',
    replace:
      "const end = frame.resumed && record.kind === 'agent' ? { status: 'error', error: { name: 'E', code: 'internal', message: 'planted' } } : await run.runBody(slot.runnable as AnyRunnable | Wait, frame);",
    within: seedsOfChecks,
  },
  {
    name: 'rerun-reported',
    about: 'An interrupted tool that may run again is reported as unknown.',
    file: 'effects/tool-call/interrupted-attempt.ts',
    find: "if (tool?.recovery !== 'rerun')",
    replace: 'if (true)',
    within: seedsOfChecks,
  },
  {
    name: 'rerun-given-up',
    about: 'A tool that may run again is given up after its first interruption.',
    file: 'effects/tool-call/interrupted-attempt.ts',
    find: 'const mostInterruptions = 3;',
    replace: 'const mostInterruptions = 1;',
    within: seedsOfChecks,
  },
  {
    name: 'resumed-body-is-overloaded',
    about: 'Each body that is resumed fails with the error of a model that nobody called.',
    file: 'engine/invoke/invoke.ts',
    find: 'const end = await run.runBody(slot.runnable as AnyRunnable | Wait, frame);',
    replace:
      "const end = frame.resumed ? { status: 'error', error: { name: 'E', code: 'model_overloaded', message: 'planted' } } : await run.runBody(slot.runnable as AnyRunnable | Wait, frame);",
    within: seedsOfChecks,
  },
  {
    name: 'user-state-added-twice',
    about: 'An update of shared state that is made again counts again.',
    file: 'engine/invoke/state/key-writes.ts',
    find: 'entry.source === source && givesSame(apply, written)',
    replace: 'false',
    within: seedsOfChecks,
  },
];

/** Bugs of what people do: their cancels, their pauses and their answers. */
const peopleBugs: readonly PlantedBug[] = [
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
    find: "act: () => target.cancel(new AbortReason('cancelled', reason)),",
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

/** Bugs of what people tell about effects, and say in the place of answers. */
const repairBugs: readonly PlantedBug[] = [
  {
    name: 'told-outcome-ignored',
    about: 'A reopened body gets an effect as unknown whose outcome was told.',
    file: 'effects/body-effect/recorded-effects.ts',
    find: 'if (told !== undefined && (isReopened || isFromOutside(told.by))) useTold(effect, told);',
    replace: 'if (told === null) useTold(effect, told);',
  },
  {
    name: 'reopened-effect-runs-again',
    about: 'A reopened body carries out an effect again that reports, and nobody told its outcome.',
    file: 'effects/body-effect/perform-effect.ts',
    find: "    if (recovery === 'report') this.#record.settled = result;\n    else if",
    replace: '    if',
  },
  {
    name: 'outcome-told-twice',
    about: 'An outcome is recorded again that somebody has told before.',
    file: 'engine/run/inbox/resolution.ts',
    find: 'return told === undefined ? undefined :',
    replace: 'return told !== null ? undefined :',
  },
  {
    name: 'told-and-tried-again',
    about: 'An effect is tried again of which somebody has told that it happened.',
    file: 'effects/body-effect/recorded-effects.ts',
    find: 'effect.settled = told.retryAfterMs === undefined ? told : undefined;',
    replace: 'effect.settled = undefined;',
  },
  {
    name: 'answering-message-lost',
    about: 'A message that is an answer settles its request, and is recorded nowhere.',
    file: 'engine/run/inbox/message-answer.ts',
    find: 'return { drafts: [inputDraft({ ...entry, data }, request)] };',
    replace: 'return { drafts: [] };',
  },
  {
    name: 'message-answers-nothing',
    about: 'A posted message is never read as the input that a run waits for.',
    file: 'engine/run/inbox/message-answer.ts',
    find: "  if ('ambiguous' in found) return { drafts: [message, found.ambiguous] };\n",
    replace: '  if (found !== null) return undefined;\n',
  },
  {
    name: 'ambiguous-message-answers',
    about: 'A message that fits several calls answers the first of them.',
    file: 'engine/run/inbox/message-answer.ts',
    find: 'if (others.length === 0) return',
    replace: 'if (others !== null) return',
  },
];

export const plantedBugs: readonly PlantedBug[] = [
  ...ledgerBugs,
  ...engineBugs,
  ...effectBugs,
  ...requestBugs,
  ...failureBugs,
  ...peopleBugs,
  ...repairBugs,
  ...storeBugs,
  ...repairedBugs,
];
