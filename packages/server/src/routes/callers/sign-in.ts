import { unauthenticated } from '../../access/authenticate.ts';
import { clearCookie, cookieIn, setCookie } from '../../access/sign-in/cookie.ts';
import { assertMaySignIn, assertOwnPage } from '../../access/sign-in/own-origin.ts';
import type { AddRoutes, Api, ServerParts } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { signInSchema } from '../../schemas/caller.ts';

const tag = 'Callers';

const signIn = defineRoute({
  method: 'post',
  path: '/v1/sign-in',
  permission: 'public',
  operationId: 'signIn',
  tag,
  summary: 'Changes a credential for a cookie',
  description:
    'For pages of the server itself, which then need not keep the credential. The cookie is sent ' +
    'with requests by the browser and cannot be read by scripts. It ends with the credential, ' +
    'with the sign-out, and after `auth.signInForMs`. A request with the cookie that changes ' +
    "something must have the page's own `Origin`.",
  body: signInSchema,
  answers: {
    204: {
      description: 'The cookie is set.',
      headers: {
        'Set-Cookie': 'The cookie: HttpOnly, SameSite=Strict, and Secure but on loopback.',
      },
    },
  },
});

const signOut = defineRoute({
  method: 'post',
  path: '/v1/sign-out',
  permission: 'public',
  operationId: 'signOut',
  tag,
  summary: 'Ends the sign-in of the cookie',
  description: 'In all processes with their next request; streams that it opened end, too.',
  answers: { 204: { description: 'There is no sign-in, and no cookie any more.' } },
});

/** Sign-in and sign-out of pages. */
export const addSignInRoutes: AddRoutes = (api, parts) => {
  addSignIn(api, parts);
  addSignOut(api, parts);
};

function addSignIn(api: Api, parts: ServerParts): void {
  const { access, app, options } = parts;
  addRoute(api, signIn, async ({ body, context }) => {
    if (access.callers === undefined) throw signInUnneeded();
    assertMaySignIn(context, options);
    const principal = await access.callers.byCredential(body.credential);
    if (principal === undefined) {
      await access.countFailure(context.var.address);
      throw unauthenticated();
    }
    const before = cookieIn(context, app);
    const begun = await access.signIns.begin(principal);
    const earlier = before === undefined ? undefined : await access.signIns.open(before);
    if (earlier !== undefined) await access.signIns.end(earlier.id, principal.actor);
    // The audit log names the caller, whom a public route does not know.
    context.set('principal', principal);
    return noContent(setCookie(context, parts, begun));
  });
}

function addSignOut(api: Api, parts: ServerParts): void {
  const { access, app, options } = parts;
  addRoute(api, signOut, async ({ context }) => {
    const cookie = cookieIn(context, app);
    if (access.callers === undefined || cookie === undefined) return noContent();
    assertOwnPage(context, options);
    const opened = await access.signIns.open(cookie);
    if (opened !== undefined) {
      const principal = await access.callers.bySignIn(cookie);
      await access.signIns.end(opened.id, principal?.actor ?? 'operator');
      if (principal !== undefined) context.set('principal', principal);
    }
    return noContent(clearCookie(context, parts));
  });
}

function noContent(cookie?: string): Response {
  const headers = cookie === undefined ? {} : { 'set-cookie': cookie };
  return new Response(null, { status: 204, headers });
}

function signInUnneeded(): RequestRefusedError {
  return new RequestRefusedError(
    409,
    'sign_in_unneeded',
    'This server asks for no credentials: callers of its machine may do everything.',
  );
}
