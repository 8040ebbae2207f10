/**
 * `npm run with-redis -- <command…>`: runs a command with `REDIS_URL` set to a Redis server, and
 * ends with its exit code. Takes the server that `REDIS_URL` names, else one of this machine, else
 * starts one of its own that keeps nothing. Where no Redis is installed: as root on Debian by
 * apt-get.
 */
import { runWith } from './local-service.ts';
import { startRedis, takesAnybody } from './redis-server.ts';

const localPort = 6379;

await runWith('with-redis', 'REDIS_URL', async () => {
  const given = process.env['REDIS_URL'];
  const nothing = async (): Promise<void> => undefined;
  if (given) return { url: given, stop: nothing };
  if (await takesAnybody(localPort))
    return { url: `redis://127.0.0.1:${localPort}`, stop: nothing };
  return startRedis();
});
