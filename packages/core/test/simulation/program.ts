/**
 * Programs of the simulator, as data: they are drawn, built, and made smaller when they fail. Every
 * program has the same end whatever the order of its concurrent parts: branches write keys of their
 * own, and what they share they only add to.
 */
export type Program =
  | { readonly kind: 'agent'; readonly id: string; readonly rounds: readonly (readonly Call[])[] }
  | {
      readonly kind: 'step';
      readonly id: string;
      readonly branches: readonly Branch[];
      /** True to leave behind what an edited step does not ask for any more. */
      readonly acceptsDrift?: boolean;
    }
  | { readonly kind: 'sequence'; readonly id: string; readonly parts: Programs }
  | {
      readonly kind: 'parallel';
      readonly id: string;
      readonly parts: Programs;
      /** True to cancel the other branches when one fails. */
      readonly failFast?: boolean;
    }
  /**
   * A graph: a node that fails leads to the parts by an edge for errors, and behind them a cycle
   * leads back to the first one.
   */
  | {
      readonly kind: 'graph';
      readonly id: string;
      readonly parts: Programs;
      /** Number of times that the parts run. */
      readonly rounds: number;
    }
  /** A router whose rules choose two routes that fail before the part. */
  | { readonly kind: 'router'; readonly id: string; readonly part: Program }
  | {
      readonly kind: 'loop';
      readonly id: string;
      readonly part: Program;
      readonly iterations: number;
    };

export type Programs = readonly Program[];

/** Statements that follow each other in the body of a step, beside other branches. */
export type Branch = readonly Statement[];

export type Statement =
  /** Sets the key of the branch to one more than it was. */
  | { readonly does: 'increment' }
  | { readonly does: 'set'; readonly value: number }
  /** Adds to a key that all branches and programs share. */
  | { readonly does: 'add'; readonly by: number; readonly scope: 'session' | 'user' }
  | {
      readonly does: 'effect';
      readonly recovery: 'rerun' | 'report' | 'probe';
      /** Finding of its probe. */
      readonly finds?: Finding;
      /** True to fail at first, and to be tried again. */
      readonly retries?: boolean;
      /**
       * Fails the step when its outcome is unknown, and adds its result to the key of the branch:
       * people repair it. `loses`: its first attempt loses its connection.
       */
      readonly repaired?: 'kept' | 'loses';
    }
  /** Asks people: for leave, or for a text. Counts what they say into the key of the branch. */
  | { readonly does: 'question'; readonly wants: 'approval' | 'text' }
  /** Asks people for a value that a message can give, and counts that they gave one. */
  | { readonly does: 'value'; readonly wants: Wanted }
  | { readonly does: 'sleep'; readonly ms: number }
  /** Asks people, and goes on without them after a time. */
  | { readonly does: 'race'; readonly ms: number }
  | {
      readonly does: 'call' | 'spawn' | 'dispatch';
      readonly part: Program;
      /** True to name the child by its input and not by a key. */
      readonly isKeyless?: boolean;
    };

/** A value that people are asked for: a text, a number, or an object with one or two members. */
export type Wanted = 'text' | 'number' | 'colour' | 'size';

/** Finding of a probe about an attempt; `throws`: the probe fails itself. */
export type Finding = 'happened' | 'not' | 'unknown' | 'throws';

/**
 * Tools that add to a key once. `retries` fails at its first attempt, and `throws` at each.
 * `expiring` asks for an approval that people may be too late for.
 */
export type PlainTool =
  | 'read'
  | 'rerun'
  | 'report'
  | 'ask'
  | 'probe'
  | 'retries'
  | 'throws'
  | 'approval'
  | 'expiring'
  | 'input';

/**
 * The edit of a part in the next version of the code: other names of its tools, its approvals gone,
 * arguments that it asks for, other inputs of its children, or other words of its questions.
 */
export type Edit = 'renamed' | 'removed' | 'stricter' | 'otherInput' | 'otherWords';

/** A call of a tool in a round of an agent. */
export type Call =
  | {
      readonly does: PlainTool;
      readonly by: number;
      /** Finding of its probe. */
      readonly finds?: Finding;
    }
  /** A tool that has effects of its own, and so runs again after a stop. */
  | { readonly does: 'effects'; readonly count: number }
  /** A tool that asks people for a value that a message can give. */
  | { readonly does: 'form'; readonly wants: Wanted }
  /** A tool that calls another agent. */
  | { readonly does: 'delegate'; readonly part: Program }
  /** A tool that hands the conversation over. */
  | { readonly does: 'handoff'; readonly part: Program };

/** One line for people: `sequence(a1[read], s2[increment effect|set])`. */
export function textOf(program: Program): string {
  const one = (item: Statement | Call): string =>
    'part' in item ? `${item.does} ${textOf(item.part)}` : nodeName(item);
  switch (program.kind) {
    case 'agent':
      return `${program.id}[${program.rounds.map((calls) => calls.map(one).join(' ')).join(' / ')}]`;
    case 'step':
      return `${program.id}{${program.branches.map((each) => each.map(one).join(' ')).join(' | ')}}`;
    case 'loop':
      return `${program.iterations}×(${textOf(program.part)})`;
    case 'router':
      return `router(${textOf(program.part)})`;
    default:
      return `${program.kind}(${program.parts.map(textOf).join(', ')})`;
  }
}

/** Name of a node without its parts: `effect:report`. */
export function nodeName(item: Statement | Call): string {
  const finding = 'finds' in item && item.finds !== undefined ? `:${item.finds}` : '';
  if (item.does === 'effect') return `effect:${item.recovery}${finding}${endingOf(item)}`;
  if ('wants' in item) return `${item.does}:${item.wants}`;
  return item.does === 'add' ? `add:${item.scope}` : `${item.does}${finding}`;
}

function endingOf({ repaired, retries }: Extract<Statement, { readonly does: 'effect' }>): string {
  if (repaired !== undefined) return `:${repaired}`;
  return retries === true ? ':retries' : '';
}
