import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The text that a model streams, or the number of its rounds; sent as the input of a run, so that
 * every host hears of it the same way.
 */
export type Plan =
  | {
      readonly deltas: number;
      /** Missing: one in each turn of the event loop. */
      readonly perSecond?: number;
    }
  | { readonly rounds: number };

const marked = /plan(\{[^}]*\})/g;

export function planText(plan: Plan): string {
  return `plan${JSON.stringify(plan)}`;
}

/** The last plan in a text, as JSON in JSON or plain. */
export function planIn(text: string): Plan {
  const found = [...text.replaceAll('\\', '').matchAll(marked)].at(-1)?.[1];
  if (found === undefined) return { rounds: 0 };
  return JSON.parse(found) as Plan;
}

const digits = 15;
/**
 * A delta says when it was made: microseconds of the clock that all processes of a machine share.
 */
export const stampPattern = /@(\d{15})/g;

export function microseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

let last = 0;

/** As long as a word or two. No two are alike, so that a reader knows which ones it had. */
function stampedDelta(): string {
  last = Math.max(last + 1, microseconds());
  return `@${String(last).padStart(digits, '0')} `;
}

/** The deltas of a plan, each when it is due. */
export async function* deltasOf({
  deltas,
  perSecond,
}: Extract<Plan, { deltas: number }>): AsyncGenerator<string, void, undefined> {
  const start = performance.now();
  for (let i = 0; i < deltas; i++) {
    const due = perSecond === undefined ? 0 : start + (i * 1_000) / perSecond - performance.now();
    if (due > 0) await sleep(due);
    else if (perSecond === undefined) await new Promise<void>((resolve) => setImmediate(resolve));
    yield stampedDelta();
  }
}
