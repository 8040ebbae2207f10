import { spawn } from 'node:child_process';
import type { Host } from '../host/host.ts';
import { notice } from '../output/notice.ts';

/** Programs that show an address in the browser of the user, by platform. */
const openers: Partial<Readonly<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Opens a page in the browser of the user; where that is not possible, says so. No shell reads the
 * address.
 */
export function openPage(host: Host, url: string): void {
  const [program, ...args] = openers[host.platform] ?? ['xdg-open'];
  const say = (reason: string): void =>
    notice(host, `The page could not be opened (${program}: ${reason}). Open ${url} yourself.`);
  const opener = spawn(program, [...args, url], { env: host.env, stdio: 'ignore', detached: true });
  opener.on('error', (error: NodeJS.ErrnoException) =>
    say(error.code === 'ENOENT' ? 'there is no such program' : error.message),
  );
  opener.on('exit', (code) => {
    if (code !== 0) say(`it ended with ${code}`);
  });
  // The browser stays when the server ends.
  opener.unref();
}
