/** Tasks, triggers and actors that led to something, as plain JSON. */
export interface Cause {
  /** The first of them. */
  readonly root: string;
  /** Number of them. */
  readonly depth: number;
  /** Their names, the first one first. */
  readonly chain: readonly string[];
}

/** Something that adds itself to a chain of causes. */
export interface CausingTrigger {
  /** Name that no other trigger, task or actor has. */
  readonly id: string;
  /** Times that it may occur in its own chain. Default 0. */
  readonly reentrant?: number | undefined;
}

/** Chain of a firing, or the reason why it is refused. */
export type CauseResult =
  | { readonly accepted: true; readonly cause: Cause }
  | {
      readonly accepted: false;
      /** `too_deep`: the chain has 16 names. `cycle`: the trigger occurs in its own chain. */
      readonly reason: 'too_deep' | 'cycle';
      readonly reasoning: string;
      /** The chain that would have been. */
      readonly chain: readonly string[];
    };

const mostDepth = 16;

/**
 * Adds a trigger to the chain that led to its firing. A trigger that occurs in its own chain is
 * refused: A that starts B that starts A would never end.
 */
export function causeOf(cause: Cause | undefined, trigger: CausingTrigger): CauseResult {
  const { id, reentrant = 0 } = trigger;
  const before = cause?.chain ?? [];
  const chain = [...before, id];
  const depth = (cause?.depth ?? 0) + 1;
  if (before.filter((name) => name === id).length > reentrant) {
    const allowed = reentrant === 0 ? '' : ` more often than it may (${reentrant})`;
    const found = `The trigger ${id} occurs in its own chain of causes${allowed}`;
    const reasoning = `${found}: ${shown(chain)}.`;
    return { accepted: false, reason: 'cycle', reasoning, chain };
  }
  if (depth > mostDepth) {
    const reasoning = `The chain of causes has more than ${mostDepth} names: ${shown(chain)}.`;
    return { accepted: false, reason: 'too_deep', reasoning, chain };
  }
  return { accepted: true, cause: { root: cause?.root ?? id, depth, chain } };
}

function shown(chain: readonly string[]): string {
  return chain.join(' → ');
}
