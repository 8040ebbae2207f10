import { Draws } from '../../src/testing/simulation/draws.ts';
import type { Branch, Call, Program, Statement, Wanted } from './program.ts';

/** Share of the seeds that have a program of a kind beside the others. */
const share = 1 / 3;
/** Share of the programs answered by messages whose questions all ask for the same. */
const sameShare = 0.4;
const wanted = ['text', 'number', 'colour', 'size'] as const satisfies readonly Wanted[];

/**
 * Draws the programs that people repair, and those that they answer by messages. They have draws of
 * their own, so that the other programs of a seed stay as they are.
 */
export function drawProgramsOfPeople(seed: number): readonly Program[] {
  const draws = new Draws(seed).part('programs of people');
  return [
    ...(draws.at('has repairs') < share ? [drawRepaired(draws.part('repairs'), 'r0')] : []),
    ...(draws.at('has messages') < share ? [drawAnswered(draws.part('messages'), 'm0')] : []),
  ];
}

/** True for a part of such a program: it is the same in all versions of the code. */
export function isOfPeople(id: string): boolean {
  return /^[rm]\d+_/.test(id);
}

/** A step with effects that fail it when their outcome is unknown, alone or with others around. */
function drawRepaired(draws: Draws, name: string): Program {
  const step = (id: string): Program => ({
    kind: 'step',
    id: `${name}_${id}`,
    branches: some(draws, `branches ${id}`, 1, 2, (branch) => [
      ...some(draws, `effects ${id} ${branch}`, 1, 2, (effect) =>
        drawEffect(draws, `effect ${id} ${branch} ${effect}`),
      ),
      { does: 'increment' },
    ]),
  });
  const before: Program = {
    kind: 'step',
    id: `${name}_before`,
    branches: [[{ does: 'add', by: 1, scope: 'session' }]],
  };
  switch (draws.oneOf('around', ['step', 'sequence', 'parallel', 'loop'])) {
    case 'sequence':
      return { kind: 'sequence', id: `${name}_0`, parts: [before, step('1'), step('2')] };
    case 'parallel':
      return { kind: 'parallel', id: `${name}_0`, parts: [step('1'), step('2'), before] };
    case 'loop':
      return { kind: 'loop', id: `${name}_0`, part: step('1'), iterations: 2 };
    default:
      return step('1');
  }
}

function drawEffect(draws: Draws, place: string): Statement {
  return {
    does: 'effect',
    ...draws.oneOf(`${place} recovery`, [
      { recovery: 'report' },
      { recovery: 'report' },
      { recovery: 'probe', finds: 'unknown' },
    ] as const),
    repaired: draws.at(`${place} loses`) < 0.6 ? 'loses' : 'kept',
  };
}

/** Several calls and questions that wait at the same time for what a message can give. */
function drawAnswered(draws: Draws, name: string): Program {
  // Those that ask for the same take the same messages, which then answer none of them.
  const isSame = draws.at('asks for the same') < sameShare;
  const value = (place: string): Wanted => draws.oneOf(isSame ? 'wants' : `wants ${place}`, wanted);
  const step: Program = {
    kind: 'step',
    id: `${name}_1`,
    branches: some(
      draws,
      'branches',
      1,
      3,
      (branch): Branch => [
        { does: 'value', wants: value(`${branch} first`) },
        ...(draws.at(`more ${branch}`) < 0.3
          ? [{ does: 'value', wants: value(`${branch} second`) } as const]
          : []),
      ],
    ),
  };
  const agent: Program = {
    kind: 'agent',
    id: `${name}_2`,
    rounds: some(draws, 'rounds', 1, 2, (round) =>
      some(
        draws,
        `calls ${round}`,
        1,
        3,
        (call): Call => ({
          does: 'form',
          wants: value(`call ${round} ${call}`),
        }),
      ),
    ),
  };
  return draws.oneOf('around', [
    step,
    agent,
    { kind: 'parallel', id: `${name}_0`, parts: [step, agent] } as const,
  ]);
}

function some<Item>(
  draws: Draws,
  place: string,
  least: number,
  most: number,
  make: (index: number) => Item,
): readonly Item[] {
  return Array.from({ length: draws.whole(place, least, most) }, (_, index) => make(index));
}
