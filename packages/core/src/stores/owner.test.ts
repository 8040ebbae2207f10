import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemIds } from '../base/id.ts';
import { isOwnerGone, ownerOfProcess, processOwner } from './owner.ts';

test('names this process, differently each time', () => {
  const owner = processOwner(systemIds);
  const [boot, pid, start, random] = owner.split('/');
  expect(boot).not.toBe('');
  expect(Number(pid)).toBe(process.pid);
  expect(start).toMatch(/^\d+$/);
  expect(random).not.toBe(processOwner(systemIds).split('/')[3]);
  expect(isOwnerGone(owner)).toBe(false);
});

test('a killed process is gone', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const owner = ownerOfProcess(child.pid as number, 'x');
  expect(isOwnerGone(owner)).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isOwnerGone(owner)).toBe(true);
});

test.runIf(process.platform === 'linux')(
  'a process number that is in use again does not keep its former owner alive',
  () => {
    const [boot, pid, , random] = processOwner(systemIds).split('/');
    expect(isOwnerGone(`${boot}/${pid}/1/${random}`)).toBe(true);
  },
);

test.runIf(process.platform === 'linux')(
  'a process of another container is never judged gone, though the host is the same',
  async () => {
    const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
    const owner = ownerOfProcess(child.pid as number, 'x');
    await once(child, 'exit');
    expect(isOwnerGone(owner)).toBe(true);
    const [where = '', ...rest] = owner.split('/');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    expect(where).toBe(`${boot}.${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`);
    for (const elsewhere of [`${boot}.4026539999`, boot])
      expect(isOwnerGone([elsewhere, ...rest].join('/'))).toBe(false);
  },
);

test.each(['', 'somebody', 'another-boot/1/1/x', 'a/b/c/d'])(
  '%j cannot be judged, so it is not gone',
  (owner) => {
    expect(isOwnerGone(owner)).toBe(false);
  },
);
