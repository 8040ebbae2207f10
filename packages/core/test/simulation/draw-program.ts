import type { Draws } from '../../src/testing/simulation/draws.ts';
import type { Branch, Call, Finding, Program, Programs, Statement } from './program.ts';

/** Depth below which a program has no further parts. */
const deepest = 3;
const findings = ['happened', 'not', 'unknown', 'throws'] as const satisfies readonly Finding[];
/** Share of the plain calls whose tool fails by itself: little is compared after it. */
const failingShare = 0.08;

/** Draws a program. Its parts have names of their own in all programs of a seed. */
export function drawProgram(draws: Draws, name: string): Program {
  return new ProgramDraw(draws.part(name), name).program(0);
}

class ProgramDraw {
  readonly #draws: Draws;
  readonly #name: string;
  #drawn = 0;
  #parts = 0;
  /** True below a loop: what it dispatches runs beside what the next iteration dispatches. */
  #isRepeated = false;
  #isWithoutParallel = false;

  constructor(draws: Draws, name: string) {
    this.#draws = draws;
    this.#name = name;
  }

  program(depth: number): Program {
    const id = `${this.#name}_${this.#parts++}`;
    const kinds =
      depth >= deepest
        ? (['agent', 'step'] as const)
        : (['agent', 'agent', 'step', 'step', 'sequence', 'parallel', 'loop'] as const);
    const drawn = this.#oneOf(kinds);
    const kind = drawn === 'parallel' && this.#isWithoutParallel ? 'sequence' : drawn;
    switch (kind) {
      case 'agent':
        return { kind, id, rounds: this.#some(1, 3, () => this.#calls(depth)) };
      case 'step':
        return {
          kind,
          id,
          branches: this.#some(1, 3, () => this.#branch(depth)),
          acceptsDrift: this.#draws.at(`${id} accepts drift`) < 0.3,
        };
      case 'loop':
        return { kind, id, part: this.#repeated(depth + 1), iterations: this.#whole(1, 3) };
      case 'parallel':
        return {
          kind,
          id,
          parts: this.#below(depth),
          failFast: this.#draws.at(`${id} fails fast`) < 0.3,
        };
      default:
        return this.#line(id, depth);
    }
  }

  /** Draws a sequence, or a graph or router in its place. */
  #line(id: string, depth: number): Program {
    const place = this.#isWithoutParallel ? 1 : this.#draws.at(`${id} is no sequence`);
    if (place >= 0.5) return { kind: 'sequence', id, parts: this.#below(depth) };
    if (place >= 0.3) return { kind: 'router', id, part: this.program(depth + 1) };
    const rounds = place >= 0.15 ? 2 : 1;
    const wasRepeated = this.#isRepeated;
    this.#isRepeated ||= rounds > 1;
    const parts = this.#below(depth);
    this.#isRepeated = wasRepeated;
    return { kind: 'graph', id, parts, rounds };
  }

  #repeated(depth: number): Program {
    const wasRepeated = this.#isRepeated;
    this.#isRepeated = true;
    const part = this.program(depth);
    this.#isRepeated = wasRepeated;
    return part;
  }

  /** Draws what a step dispatches. Two parallels of one name must not run beside each other. */
  #dispatched(depth: number): Program {
    const wasWithout = this.#isWithoutParallel;
    this.#isWithoutParallel ||= this.#isRepeated;
    const part = this.program(depth);
    this.#isWithoutParallel = wasWithout;
    return part;
  }

  #below(depth: number): Programs {
    return this.#some(1, 3, () => this.program(depth + 1));
  }

  #calls(depth: number): readonly Call[] {
    const calls = this.#some(1, 3, () => this.#call(depth));
    // A round hands the conversation over once, and last.
    const handoff = calls.find(({ does }) => does === 'handoff');
    return handoff === undefined ? calls : [handoff];
  }

  #call(depth: number): Call {
    const plain = [
      'read',
      'rerun',
      'report',
      'ask',
      'probe',
      'approval',
      'expiring',
      'input',
    ] as const;
    const nested = ['effects', 'delegate', 'handoff'] as const;
    const does = this.#oneOf<Exclude<Call['does'], 'form'>>(
      depth >= deepest ? [...plain, 'effects'] : [...plain, ...nested],
    );
    switch (does) {
      case 'effects':
        return { does, count: this.#whole(1, 3) };
      case 'delegate':
      case 'handoff':
        return { does, part: this.#agent(depth + 1) };
      case 'probe':
        return { does, by: this.#whole(1, 9), finds: this.#finding() };
      default:
        return { does: this.#failing() ?? does, by: this.#whole(1, 9) };
    }
  }

  #finding(): Finding {
    return this.#draws.oneOf(`finding ${this.#drawn}`, findings);
  }

  /** Draws a tool that fails by itself in the place of another one. */
  #failing(): 'retries' | 'throws' | undefined {
    const place = `failing ${this.#drawn}`;
    if (this.#draws.at(place) >= failingShare) return undefined;
    return this.#draws.oneOf(`${place} how`, ['retries', 'throws']);
  }

  #agent(depth: number): Program {
    const id = `${this.#name}_${this.#parts++}`;
    return { kind: 'agent', id, rounds: this.#some(1, 2, () => this.#calls(depth)) };
  }

  #branch(depth: number): Branch {
    return this.#some(1, 4, () => this.#statement(depth));
  }

  #statement(depth: number): Statement {
    const simple = [
      'increment',
      'set',
      'add',
      'add',
      'effect',
      'effect',
      'question',
      'sleep',
      'race',
    ] as const;
    const does = this.#oneOf<Exclude<Statement['does'], 'value'>>(
      depth >= deepest ? simple : [...simple, 'call', 'call', 'spawn', 'dispatch'],
    );
    switch (does) {
      case 'increment':
        return { does };
      case 'set':
        return { does, value: this.#whole(1, 9) };
      case 'add':
        return { does, by: this.#whole(1, 9), scope: this.#oneOf(['session', 'user']) };
      case 'effect': {
        const recovery = this.#oneOf(['rerun', 'report', 'probe'] as const);
        return {
          does,
          recovery,
          ...(recovery === 'probe' ? { finds: this.#finding() } : {}),
          ...(this.#draws.at(`retries ${this.#drawn}`) < failingShare ? { retries: true } : {}),
        };
      }
      case 'question':
        return { does, wants: this.#oneOf(['approval', 'text']) };
      case 'sleep':
      case 'race':
        // Some keep their session, and some give it back.
        return { does, ms: this.#oneOf([50, 3_000, 60_000, 1_200_000]) };
      default:
        return {
          does,
          part: does === 'dispatch' ? this.#dispatched(depth + 1) : this.program(depth + 1),
          isKeyless: this.#whole(0, 1) === 1,
        };
    }
  }

  #some<Item>(least: number, most: number, make: () => Item): readonly Item[] {
    return Array.from({ length: this.#whole(least, most) }, make);
  }

  #whole(least: number, most: number): number {
    return this.#draws.whole(String(this.#drawn++), least, most);
  }

  #oneOf<Value>(values: readonly Value[]): Value {
    return this.#draws.oneOf(String(this.#drawn++), values);
  }
}
