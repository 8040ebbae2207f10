import { type PlantedBug, seedsOfChecks, seedsOfRepairs } from './planted-bug.ts';

/** Bugs by which runs fail, or effects stay unknown, without a cause. */
export const failureBugs: readonly PlantedBug[] = [
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

/** Bugs of what people tell about effects, and say in the place of answers. */
export const repairBugs: readonly PlantedBug[] = [
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

/** Bugs that Adjutant had: points 18 to 21 of its repairs, put back. */
export const repairedBugs: readonly PlantedBug[] = [
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
