/**
 * `npm run with-temporal -- <command…>`: runs a command with `TEMPORAL_ADDRESS` set to a Temporal
 * server, and ends with its exit code. Takes the server that `TEMPORAL_ADDRESS` names, else starts
 * one of its own that keeps nothing. Its program is installed once, and nothing is downloaded when
 * it runs.
 */
import { runWith } from './local-service.ts';
import { startTemporal } from './temporal-server.ts';

await runWith('with-temporal', 'TEMPORAL_ADDRESS', async () => {
  const given = process.env['TEMPORAL_ADDRESS'];
  return given ? { url: given, stop: async () => undefined } : startTemporal();
});
