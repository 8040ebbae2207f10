import type { Benchmark } from '../row.ts';
import { past } from './server/past.ts';

/** Long sessions over HTTP: what those notice who want something else. */
export const serverPast: Benchmark = {
  name: 'server-past',
  notes: [
    'One server and 100 readers, processes of their own; a session of about 9,000 events ' +
      'in 60 runs. Turns are measured inside the server.',
  ],
  run: past,
};
