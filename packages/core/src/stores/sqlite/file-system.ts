import { statfsSync } from 'node:fs';
import { StoreUnavailableError } from '../../ledger/errors.ts';

/**
 * Numbers by which Linux names file systems of other machines: NFS, SMB, CIFS, SMB 2. FUSE is not
 * among them: its files may be local.
 */
const networkTypes: ReadonlySet<number> = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

/** Returns the type of the file system at a place, as a number. */
export type FileSystemType = (place: string) => number;

export const fileSystemType: FileSystemType = (place) => statfsSync(place).type;

/** @param type as `statfs` gives it */
function isNetworkFileSystem(type: number): boolean {
  // Some machines give it as a signed number of 32 bits.
  return networkTypes.has(type >>> 0);
}

/**
 * Refuses a place where locks do not hold between machines and memory is not shared. There, two
 * writers would damage the file.
 * @param path path that the user gave to open
 * @param place the file, or the directory that it is made in
 * @throws StoreUnavailableError
 */
export function assertLocalFile(path: string, place: string, typeOf: FileSystemType): void {
  let type: number;
  try {
    type = typeOf(place);
  } catch {
    // Opening the file reports the failure, if there is one.
    return;
  }
  if (!isNetworkFileSystem(type)) return;
  const reason =
    `${place} is on a network drive, where SQLite's locks do not hold; keep the file on a ` +
    'local disk, or use the PostgreSQL store';
  throw new StoreUnavailableError({ store: path, reason, permanent: true });
}
