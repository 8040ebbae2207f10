import { Draws } from '../../src/testing/simulation/draws.ts';
import type { MakeApp } from '../../src/testing/simulation/machine-room.ts';
import type { SimulatedProgram } from '../../src/testing/simulation/simulated-program.ts';
import { buildPrograms, type EditOf } from './build-program.ts';
import { drawProgram } from './draw-program.ts';
import { besideOf, drawProgramsOfLanes, isOfLane } from './draw-programs-of-lanes.ts';
import { drawProgramsOfPeople, isOfPeople } from './draw-programs-of-people.ts';
import { peopleOf } from './people-of-programs.ts';
import type { Edit, Program } from './program.ts';

/** The programs of one seed, and what a simulation needs to run them. */
export interface SeedPrograms {
  readonly drawn: readonly Program[];
  readonly machines: number;
}

/** Draws the programs of a seed, and the machines that run them. */
export function programsOf(seed: number): SeedPrograms {
  const draws = new Draws(seed).part('programs');
  const count = draws.whole('count', 1, 8);
  return {
    drawn: [
      ...Array.from({ length: count }, (_, index) => drawProgram(draws, `q${index}`)),
      ...drawProgramsOfPeople(seed),
      ...drawProgramsOfLanes(seed),
    ],
    machines: draws.whole('machines', 1, 4),
  };
}

/** The runs that people ask for: one of each program. Two users share the sessions. */
export function runsOf(seed: number, programs: readonly Program[]): readonly SimulatedProgram[] {
  const inLanes = programs.filter(({ id }) => isOfLane(id));
  const first = programs.filter(({ id }) => !isOfLane(id));
  // A program that is left alone is asked for by itself.
  return (first.length === 0 ? inLanes : first).map(({ id }, index) => ({
    run: id,
    input: 'Go',
    user: `user${index % 2}`,
    ...(isOfPeople(id) ? peopleOf(seed) : {}),
    ...(first.length === 0 ? {} : besideOf(inLanes[index])),
  }));
}

/** Share of the parts that have an edit in every second version of the code. */
const editedShare = 0.25;

/**
 * The app of a process: its runnables are made anew for each. Every second version of the code has
 * edits, and the next one takes them back.
 */
export function appOf(seed: number, programs: readonly Program[]): MakeApp {
  const draws = new Draws(seed).part('edits');
  const kinds: Readonly<Record<'agent' | 'step', readonly Edit[]>> = {
    agent: ['renamed', 'removed', 'stricter'],
    step: ['otherInput', 'otherWords'],
  };
  const editOf: EditOf = (id, kind) =>
    !isOfPeople(id) && draws.at(`is ${id} edited`) < editedShare
      ? draws.oneOf(`edit of ${id}`, kinds[kind])
      : undefined;
  return ({ version }) => ({
    app: 'simulated',
    runnables: buildPrograms(programs, version % 2 === 0 ? editOf : () => undefined),
  });
}
