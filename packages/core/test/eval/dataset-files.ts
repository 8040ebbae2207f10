import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is removed with the end of the test. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-datasets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A file of such a folder. */
export function file(name: string, text: string): string {
  const path = join(testFolder(), name);
  writeFileSync(path, text);
  return path;
}
