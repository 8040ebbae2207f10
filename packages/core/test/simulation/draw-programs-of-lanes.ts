import { Draws } from '../../src/testing/simulation/draws.ts';
import type { SimulatedProgram } from '../../src/testing/simulation/simulated-program.ts';
import { drawProgram } from './draw-program.ts';
import type { Program } from './program.ts';

/** Seeds that this number divides have runs in two lanes. */
const everySeed = 7;
/** Most sessions of a seed that have two lanes. */
const mostLanes = 2;

/**
 * Draws the programs that people begin in another lane. They have draws of their own, so that the
 * other programs of a seed stay as they are.
 */
export function drawProgramsOfLanes(seed: number): readonly Program[] {
  if (seed % everySeed !== 0) return [];
  const draws = new Draws(seed).part('programs of lanes');
  const count = draws.whole('count', 1, mostLanes);
  return Array.from({ length: count }, (_, index) => drawProgram(draws, `l${index}`));
}

/** True for a part of such a program. */
export function isOfLane(id: string): boolean {
  return /^l\d+_/.test(id);
}

/** The run of such a program, beside another one. */
export function besideOf(program: Program | undefined): Pick<SimulatedProgram, 'beside'> {
  return program === undefined
    ? {}
    : { beside: { lane: 'second', run: program.id, input: 'Go on the side' } };
}
