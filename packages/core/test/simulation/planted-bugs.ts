import { effectBugs, engineBugs } from './bugs/engine-bugs.ts';
import { ledgerBugs, storeBugs } from './bugs/ledger-bugs.ts';
import { peopleBugs, requestBugs } from './bugs/people-bugs.ts';
import type { PlantedBug } from './bugs/planted-bug.ts';
import { failureBugs, repairBugs, repairedBugs } from './bugs/repair-bugs.ts';

/** All slips that the simulator must find, in the order in which they are tried. */
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
