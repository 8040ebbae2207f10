import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sqlite } from 'adjutant/sqlite';

const folder = join(import.meta.dirname, '../.adjutant');
mkdirSync(folder, { recursive: true, mode: 0o700 });

/** Sessions are in a file of this project. They outlive the process. */
export const store = sqlite(join(folder, 'my-app.db'));
