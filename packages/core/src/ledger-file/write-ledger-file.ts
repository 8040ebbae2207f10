import { checkLedgerFile, type LedgerFile, ledgerFileText } from './ledger-file.ts';

/**
 * Writes a ledger file: JSON with an event on each line. A file of that name is replaced, at once
 * and only when all of the new one is written.
 * @throws InvalidOptionError for what is no ledger file; what the file system says
 */
export async function writeLedgerFile(path: string, file: LedgerFile): Promise<void> {
  checkLedgerFile('writeLedgerFile', file);
  const { rename, rm, writeFile } = await import('node:fs/promises');
  const unfinished = `${path}.${process.pid}.part`;
  try {
    await writeFile(unfinished, ledgerFileText(file));
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
