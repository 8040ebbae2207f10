import { domainToUnicode } from 'node:url';

/** Target of a link, as it is opened and as it is shown. */
export interface Target {
  /** Address that a terminal may open; `undefined`: it is only shown. */
  readonly url?: string;
  readonly shown: string;
}

const openable = new Set(['http:', 'https:', 'mailto:']);
const longestUrl = 2_000;

/** Reads the target of a link. Hosts whose writings are mixed are shown in Punycode. */
export function readTarget(href: string): Target {
  const url = URL.parse(href);
  if (url === null || !openable.has(url.protocol)) return { shown: href };
  const shown = url.protocol === 'mailto:' ? url.href : withShownHost(url);
  const isPlain = /^[!-~]+$/.test(url.href) && url.href.length <= longestUrl;
  return isPlain ? { url: url.href, shown } : { shown };
}

/** Checks whether a label looks like an address that is not the one of the target. */
export function isOtherAddress(label: string, href: string): boolean {
  const text = label.replace(/^[^\p{L}\p{N}]+/u, '');
  const looksSo = /^[a-z][a-z\d+.-]*:|^www\.|^(?:[^\s/@]+@)?[^\s/@]+\.\p{L}{2,}(?:[/:?#)]|\W*$)/iu;
  return looksSo.test(text) && !isSameAddress(label, href);
}

/** Checks whether a label is the address of the target, with or without its scheme. */
export function isSameAddress(label: string, href: string): boolean {
  const text = label.trim();
  if (text === href) return true;
  const target = URL.parse(href)?.href;
  if (target === undefined) return false;
  return ['', 'https://', 'http://', 'mailto:'].some(
    (scheme) => URL.parse(scheme + text)?.href === target,
  );
}

/** Writings that are written together in one language. */
const together = [
  ['Latin'],
  ['Cyrillic'],
  ['Greek'],
  ['Arabic'],
  ['Hebrew'],
  ['Devanagari'],
  ['Thai'],
  ['Han', 'Hiragana', 'Katakana'],
  ['Han', 'Hangul'],
].map((scripts) => {
  const letters = scripts.map((script) => String.raw`\p{Script=${script}}`).join('');
  return new RegExp(String.raw`^[${letters}\p{Script=Common}\p{Script=Inherited}]*$`, 'u');
});

/** The address with its host in letters, if these are of one writing, name by name. */
function withShownHost(url: URL): string {
  if (!url.hostname.includes('xn--')) return url.href;
  const host = domainToUnicode(url.hostname);
  const isOneWriting = together.some((writing) => writing.test(host));
  return isOneWriting ? url.href.replace(url.hostname, host) : url.href;
}
