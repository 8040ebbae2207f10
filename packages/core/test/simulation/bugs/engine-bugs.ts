import type { PlantedBug } from './planted-bug.ts';

export const engineBugs: readonly PlantedBug[] = [
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

export const effectBugs: readonly PlantedBug[] = [
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
    find: 'if (!ledger.lease.isLive() && !(await renewLease(ledger))) return;',
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
