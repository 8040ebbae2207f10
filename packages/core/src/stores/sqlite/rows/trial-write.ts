import type { DatabaseSync } from 'node:sqlite';

/** Bytes that a file must have room for, in which one run can go on for a while. */
const trialBytes = 262_144;

/**
 * Writes a table that needs new pages, or removes it. Two transactions: pages that are made and
 * freed in one are never written.
 */
export function tryRoom(database: DatabaseSync, step: 'write' | 'remove'): null {
  // A process that ended between the steps has left it.
  database.exec('drop table if exists adjutant_room');
  if (step === 'write')
    database.exec(`create table adjutant_room as select zeroblob(${trialBytes}) as room`);
  return null;
}
