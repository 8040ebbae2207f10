/** `npm run room-table`: writes the table of rooms into ARCHITECTURE.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withRoomTable } from '../packages/core/test/architecture/room-table.ts';
import { repositoryRoot } from './command.ts';

const page = join(repositoryRoot, 'ARCHITECTURE.md');
writeFileSync(page, withRoomTable(readFileSync(page, 'utf8')));
