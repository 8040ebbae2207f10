import { SignJWT } from 'jose';
import { expect } from 'vitest';
import type { AdjutantServer, ServerOptions } from '../../src/index.ts';
import { type Answered, ask, type World, world } from './caller.ts';

/** Headers by which a page of the server itself is known. */
export const own = { origin: 'http://localhost' };
export const secret = 's'.repeat(32);

export interface Page {
  readonly cookie: string;
  readonly header: string;
}

export async function signIn(api: AdjutantServer, credential: string, before = {}): Promise<Page> {
  const answer = await ask(api, 'POST /v1/sign-in', {
    body: { credential },
    headers: { ...own, ...before },
  });
  expect([answer.status, answer.text]).toEqual([204, '']);
  const header = answer.headers.get('set-cookie') ?? '';
  return { header, cookie: header.split(';')[0] as string };
}

export function asPage(
  api: AdjutantServer,
  what: string,
  cookie: string,
  more = {},
): Promise<Answered> {
  return ask(api, what, { headers: { cookie, ...own }, ...more });
}

export function token(claims: object = {}, expiresAt = Date.now() / 1000 + 600): Promise<string> {
  return new SignJWT({ sub: 'mara', tenant: 'default', roles: ['operator'], ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(expiresAt)
    .sign(new TextEncoder().encode(secret));
}

export async function signedIn(
  options: ServerOptions = {},
): Promise<World & Page & { id: string }> {
  const about = world(options);
  const { credential, key } = await about.keys.create({ name: 'page', roles: ['admin'] });
  return { ...about, ...(await signIn(about.api, credential)), id: key.id };
}
