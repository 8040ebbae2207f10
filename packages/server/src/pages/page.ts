import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Text of a page in which every value has been escaped. */
export type PagePart = HtmlEscapedString | Promise<HtmlEscapedString>;

const style = `
:root {
  color-scheme: light dark; --ground: #f6f6f4; --sheet: #fff; --ink: #1c1c1a; --soft: #5c5c57;
  --line: #d9d9d3; --yes: #14663b; --no: #a3271c; --mark: #1d4ed8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #161615; --sheet: #21211f; --ink: #f1f1ee; --soft: #b3b3ac; --line: #43433f;
    --yes: #187443; --no: #c8453a; --mark: #8fb3ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
}
main { max-width: 40rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
.sheet {
  background: var(--sheet); border: 1px solid var(--line); border-radius: 0.75rem;
  padding: 1.25rem;
}
h1 {
  font-size: 1.375rem; line-height: 1.3; margin: 0 0 1rem; overflow-wrap: anywhere;
  max-height: 40vh; overflow-y: auto;
}
h2 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
p { margin: 0 0 0.75rem; overflow-wrap: anywhere; }
.kind { color: var(--soft); font-size: 0.875rem; margin: 0 0 0.25rem; }
dl {
  display: grid; grid-template-columns: minmax(5rem, max-content) 1fr; gap: 0.375rem 1rem;
  margin: 0;
}
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
pre {
  margin: 0; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem;
  background: var(--ground); font: 0.875rem/1.45 ui-monospace, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere;
}
label { display: block; font-weight: 600; margin: 1.5rem 0 0.375rem; }
label span { color: var(--soft); font-weight: 400; }
textarea {
  display: block; width: 100%; min-height: 4.5rem; padding: 0.625rem;
  border: 1px solid var(--soft); border-radius: 0.5rem; background: var(--sheet);
  color: inherit; font: inherit; resize: vertical;
}
.choices { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1.25rem; }
button {
  flex: 1 1 9rem; min-height: 3rem; padding: 0.625rem 1rem; border: 1px solid var(--soft);
  border-radius: 0.5rem; background: transparent; color: inherit; font: inherit;
  font-weight: 600; cursor: pointer;
}
button.yes { background: var(--yes); border-color: var(--yes); color: #fff; }
button.no { background: var(--no); border-color: var(--no); color: #fff; }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * Content security policy of the pages: they show themselves and send their own form. No script, no
 * picture, nothing from elsewhere, and no frame around them.
 */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of pages whose address is a secret. */
const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
};

/** A page without JavaScript. */
export async function page(
  status: number,
  title: string,
  content: PagePart,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(style)}</style>
</head>
<body>
<main>
<div class="sheet">
${content}
</div>
</main>
</body>
</html>
`;
  return new Response(text.toString(), { status, headers: { ...headers, ...pageHeaders } });
}
