// Installs the packages of a clone before its first command, and says so. JavaScript, because the
// Node that a clone is begun with may not know how to read TypeScript.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const npmArguments = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
const tickMs = 10_000;
/** Lines of the reason that are shown. */
const shownLines = 10;

/** Runs npm. Returns its exit code and what it said, unless it said that to the terminal itself. */
function runNpm(isTerminal) {
  const { npm_execpath: npm } = process.env;
  const [program, ...first] = npm === undefined ? ['npm'] : [process.execPath, npm];
  const stdio = isTerminal ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(program, [...first, ...npmArguments], { stdio });
  let said = '';
  const listen = (stream) => stream?.on('data', (text) => (said += text));
  listen(child.stdout);
  listen(child.stderr);
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve({ code: 1, said: message }));
    child.on('close', (code) => resolve({ code: code ?? 1, said }));
  });
}

/**
 * Installs, and says what happens: at once, every ten seconds where npm has no terminal for its own
 * progress, and how to try again. Returns the exit code.
 */
export async function install({ npm, say, every, isTerminal }) {
  say("Installing Adjutant's packages (once, about a minute) …");
  let seconds = 0;
  const stop = every(tickMs, () => {
    seconds += tickMs / 1_000;
    if (!isTerminal) say(`Still installing: ${seconds} s …`);
  });
  const { code, said } = await npm(isTerminal);
  stop();
  if (code === 0) return 0;
  const reason = said.trim().split('\n').slice(-shownLines).join('\n');
  if (reason !== '') say(reason);
  say(`The packages could not be installed (npm ended with ${code}). Try again with: npm ci`);
  return code;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await install({
    npm: runNpm,
    say: (text) => void process.stderr.write(`${text}\n`),
    every(ms, listener) {
      const timer = setInterval(listener, ms);
      return () => clearInterval(timer);
    },
    isTerminal: process.stderr.isTTY === true,
  });
